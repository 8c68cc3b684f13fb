import type { InvocationDetail } from "#api/invocation.ts";
import { shownText } from "../../parts/shown-text.ts";

/** The tool's options, and its information about itself. */
export function OptionsView({ events }: { events: NonNullable<InvocationDetail["events"]> }) {
  return (
    <section aria-label="Options" className="view">
      <h2>Options</h2>
      {events.options.length === 0 ? (
        <p className="faint">None were sent.</p>
      ) : (
        <pre className="definition" tabIndex={0}>
          {events.options.map(shownText).join("\n")}
        </pre>
      )}
      <Pairs title="Build metadata" pairs={events.metadata} />
      <Pairs title="Workspace status" pairs={events.workspaceStatus} />
    </section>
  );
}

function Pairs({ title, pairs }: { title: string; pairs: Readonly<Record<string, string>> }) {
  const entries = Object.entries(pairs);
  if (entries.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <dl className="facts">
        {entries.map(([name, value]) => (
          <div key={name} className="pair">
            <dt>{shownText(name)}</dt>
            <dd>{shownText(value)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
