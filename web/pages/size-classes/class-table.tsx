import { Link } from "@tanstack/react-router";
import type { SizeClassNow, SizeClassPlatform } from "#api/size-class.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { costText, riskText } from "../../parts/cost.ts";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

/** The classes of one platform: their resources, load and cost. */
export function ClassTable({ platform }: { readonly platform: SizeClassPlatform }) {
  return (
    <ScrollableTable label={`Size classes of ${platform.name}`}>
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">Size class</th>
            <th scope="col">CPUs</th>
            <th scope="col">Memory</th>
            <th scope="col" title="For one second of one slot">
              Price
            </th>
            <th scope="col">Workers</th>
            <th scope="col">Slots busy</th>
            <th scope="col">Queued</th>
            <th scope="col" title="For a new action">
              Expected wait
            </th>
            <th scope="col" title="The share of the platform's executions that ended there">
              Share
            </th>
            <th scope="col">Busy</th>
            <th scope="col">Cost</th>
            <th scope="col" title="Saved by selecting this class; an estimate">
              Saved
            </th>
          </tr>
        </thead>
        <tbody>
          {platform.classes.map((each) => (
            <ClassLine key={each.sizeClass} platform={platform.name} of={each} />
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function ClassLine({ platform, of }: { readonly platform: string; readonly of: SizeClassNow }) {
  return (
    <tr>
      <th scope="row">
        <Link
          to="/size-classes/$class"
          params={{ class: String(of.sizeClass) }}
          search={{ platform }}
        >
          {of.sizeClass}
        </Link>
        {of.isDeclared ? <span className="faint"> declared</span> : null}
      </th>
      <td>{of.cpus === null ? "–" : of.cpus}</td>
      <td>{of.memoryBytes === null ? "–" : memorySizeText(of.memoryBytes)}</td>
      <td>{costText(of.price)}</td>
      <td title={workersWords(of)}>
        {of.workers}
        {of.draining + of.silent === 0 ? "" : ` of ${of.workers + of.draining + of.silent}`}
      </td>
      <td>{of.slots === 0 ? "–" : `${of.busy} of ${of.slots}`}</td>
      <td>{numberText(of.queued)}</td>
      <td>{waitText(of.expectedWaitMs)}</td>
      <td>{of.share === null ? "–" : riskText(of.share)}</td>
      <td>{of.busySeconds === 0 ? "–" : durationText(of.busySeconds * 1_000)}</td>
      <td>{costText(of.cost)}</td>
      <td>{of.saved.executions === 0 ? "–" : costText(of.saved.amount)}</td>
    </tr>
  );
}

export function waitText(ms: number | null): string {
  if (ms === null) return "–";
  return ms === 0 ? "none" : durationText(ms);
}

export function workersWords({ workers, draining, silent }: SizeClassNow): string {
  const parts = [`${workers} ${workers === 1 ? "takes" : "take"} work`];
  if (draining > 0) parts.push(`${draining} ${draining === 1 ? "takes" : "take"} no new work`);
  if (silent > 0) parts.push(`${silent} ${silent === 1 ? "was" : "were"} not reachable recently`);
  return parts.join(", ");
}
