import { lazy, type ReactNode, Suspense } from "react";
import type { InvocationDetail } from "#api/invocation.ts";
import { bytesText } from "../../parts/bytes.ts";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { actionsIn } from "../../parts/tool-state.tsx";
import { BlobLinks } from "./blob-links.tsx";
import { traceUrl } from "./load.ts";

const ActionTimes = lazy(async () => ({
  default: (await import("./action-times.tsx")).ActionTimes,
}));

/** How the time was spent, by the data of the farm and the tool. */
export function TimingView({ invocation }: { invocation: InvocationDetail }) {
  const { counts, events } = invocation;
  const actions = actionsIn(counts);
  const metrics = Object.entries(events?.metrics ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return (
    <section aria-label="Timing" className="view">
      <dl className="run-facts">
        <Fact name="Took">
          {durationText(Date.parse(invocation.endedAt) - Date.parse(invocation.startedAt))}
        </Fact>
        <Fact name="From the cache">
          {actions === 0 ? "–" : `${Math.floor((100 * counts.hits) / actions)} %`}
          <span className="faint">
            {" "}
            {numberText(counts.hits)} of {numberText(actions)}
          </span>
        </Fact>
        {actions === 0 ? null : (
          <Fact name="Trace">
            <a href={traceUrl(invocation)} download={`${invocation.id}.trace.json`}>
              {shownText(invocation.id.slice(0, 8))}.trace.json
            </a>
          </Fact>
        )}
        {events?.profile ? (
          <Fact name="Profile">
            <BlobLinks files={[events.profile]} />
          </Fact>
        ) : null}
      </dl>
      {actions === 0 ? null : (
        <Suspense>
          <ActionTimes invocation={invocation} />
        </Suspense>
      )}
      <p className="faint">
        The trace of the farm shows every action on a time line
        {events?.profile ? ", and the profile every step of the tool" : ""}: open it in
        chrome://tracing or in ui.perfetto.dev.
      </p>
      {metrics.length === 0 ? (
        <p className="faint">
          {events === null
            ? "The tool sends no build events, so the farm knows no other times."
            : "The tool has sent no times yet."}
        </p>
      ) : (
        <ScrollableTable label="Figures of the build tool">
          <table className="figures">
            <tbody>
              {metrics.map(([name, value]) => (
                <tr key={name}>
                  <th scope="row">{wordsOf(name)}</th>
                  <td>{figureText(name, value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollableTable>
      )}
    </section>
  );
}

/** `wallTimeMs`, `wall_time_in_ms` → `wall time`. */
function wordsOf(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .replace(/( in)? (ms|bytes)$/i, "")
    .toLowerCase();
}

function figureText(name: string, value: number): string {
  if (/ms$/i.test(name)) return durationText(value);
  if (/bytes$/i.test(name)) return bytesText(value);
  return numberText(value);
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
