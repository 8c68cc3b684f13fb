import type { SizeClassKeySummary } from "#api/size-class.ts";
import { costText } from "../../parts/cost.ts";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { KeyLink, levelText } from "../../parts/size-class-decision.tsx";
import { Ago } from "../../parts/times.tsx";

/** Keys with their recent cost. */
export function KeyTable({ keys }: { readonly keys: readonly SizeClassKeySummary[] }) {
  if (keys.length === 0) return null;
  return (
    <ScrollableTable label="Keys">
      <table className="figures size-class-keys">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Executions</th>
            <th scope="col">Busy</th>
            <th scope="col">Cost</th>
            <th scope="col">Seen</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((each) => (
            <tr key={`${each.project} ${each.domain} ${each.key}`}>
              <th scope="row">
                <KeyLink of={each} />{" "}
                <span className="faint">
                  {[
                    each.level === "action" ? "" : levelText(each.level),
                    hasNamesake(each, keys) ? shownText(each.key).slice(0, 8) : "",
                    each.project === "default" ? "" : shownText(each.project),
                    each.domain === "protected" ? "" : shownText(each.domain),
                  ]
                    .filter((part) => part !== "")
                    .join(" · ")}
                </span>
              </th>
              <td>{numberText(each.executions)}</td>
              <td>{durationText(each.busySeconds * 1_000)}</td>
              <td>{costText(each.cost)}</td>
              <td>{each.lastSeenAt === null ? "–" : <Ago time={each.lastSeenAt} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

/** A job with a changed command has another key with the same title. */
function hasNamesake(one: SizeClassKeySummary, keys: readonly SizeClassKeySummary[]): boolean {
  return one.title !== "" && keys.some((each) => each !== one && each.title === one.title);
}
