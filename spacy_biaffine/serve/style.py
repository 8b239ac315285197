"""How the page looks, in light and dark."""

CSS = """
:root {
  color-scheme: light dark;
  --ground: #fdfdfc; --card: #fff; --ink: #1c1d21; --faint: #5d616b; --line: #dcdee3;
  --accent: #1f5fbf; --accent-ink: #fff; --bad: #a4262c; --unsure: #8a5a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16171a; --card: #1e2024; --ink: #e8e9ec; --faint: #a2a7b2; --line: #383b42;
    --accent: #8ab4f8; --accent-ink: #10131a; --bad: #ff9a94; --unsure: #f0c060;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 75rem;
  background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
}
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; }
h1 { font-size: 1.25rem; margin: 0 0 .75rem; }
h2 { font-size: 1rem; margin: 0 0 .75rem; }
h3 { font-size: .875rem; font-weight: 600; color: var(--faint); margin: 1rem 0 .25rem; }
.faint { color: var(--faint); font-size: .875rem; }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
textarea {
  display: block; width: 100%; min-height: 5.5rem; padding: .6rem .75rem; resize: vertical;
  font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .4rem;
}
form p { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; margin: .6rem 0 0; }
button {
  font: inherit; font-weight: 600; padding: .45rem 1.1rem; border: 0; border-radius: .4rem;
  background: var(--accent); color: var(--accent-ink); cursor: pointer;
}
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
section {
  margin-top: 1.25rem; padding: 1rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem;
}
a { color: var(--accent); }
.links { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 1rem 0 0; font-size: .9rem; }
.examples { margin: .75rem 0 0; padding-left: 1.25rem; font-size: .9rem; }
details { margin-top: 1.5rem; font-size: .9rem; }
.message { border-left: .35rem solid var(--bad); }
.scroll { overflow-x: auto; margin: 0; }
.scroll + .scroll { margin-top: 1rem; }
svg.displacy { color: inherit !important; background: none !important; display: block; }
mark.entity, .spans span span { color: #1c1d21; }
.entities, .spans { overflow-wrap: anywhere; }
.spans span span { overflow-wrap: normal; white-space: nowrap; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .9rem .25rem 0; text-align: start; vertical-align: top; }
th { color: var(--faint); font-weight: 600; white-space: nowrap; }
tbody tr { border-top: 1px solid var(--line); }
tbody tr.starts { border-top: 2px solid var(--faint); }
td { max-width: 28rem; overflow-wrap: anywhere; }
@media (max-width: 600px) {
  td, th { padding-right: .5rem; }
}
td.number { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.unsure { color: var(--unsure); font-weight: 600; }
td.doubtful { color: var(--bad); font-weight: 600; }
"""
