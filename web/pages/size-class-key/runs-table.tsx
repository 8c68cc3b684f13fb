import type { SizeClassKeyDetail } from "#api/size-class.ts";
import { bytesText } from "../../parts/bytes.ts";
import { durationText } from "../../parts/duration.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { Ago } from "../../parts/times.tsx";
import { endWords } from "./run-mark.tsx";

/** The data of the plots as a table, the latest first. */
export function RunsTable({ classes }: { readonly classes: SizeClassKeyDetail["classes"] }) {
  const runs = classes
    .flatMap(({ sizeClass, runs: past }) => past.map((run) => ({ ...run, sizeClass })))
    .toSorted((a, b) => b.at.localeCompare(a.at));
  return (
    <ScrollableTable label="Runs">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">Size class</th>
            <th scope="col">End</th>
            <th scope="col">Took</th>
            <th scope="col">Allowed</th>
            <th scope="col">CPU</th>
            <th scope="col">Memory</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: runs have no identity but their place
            <tr key={n}>
              <th scope="row">{run.sizeClass}</th>
              <td>{endWords[run.end]}</td>
              <td>{durationText(run.durationMs)}</td>
              <td>{durationText(run.timeoutMs)}</td>
              <td>{run.cpuMs === null ? "–" : durationText(run.cpuMs)}</td>
              <td>{run.peakMemoryBytes === null ? "–" : bytesText(run.peakMemoryBytes)}</td>
              <td>
                <Ago time={run.at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}
