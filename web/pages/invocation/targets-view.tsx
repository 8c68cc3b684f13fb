import { useRef, useState } from "react";
import type {
  InvocationDetail,
  InvocationState,
  InvocationTarget,
  InvocationTest,
} from "#api/invocation.ts";
import { durationText } from "../../parts/duration.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { ToolStateIcon } from "../../parts/tool-state.tsx";
import { BlobLinks } from "./blob-links.tsx";
import { TargetHistory } from "./target-history.tsx";
import { TestLog } from "./test-log.tsx";

/** The maximum number of lines in a page without virtual scrolling. */
const mostShown = 1_000;

/** Targets and tests as the tool reported them: failed ones first. */
export function TargetsView({
  events,
  project,
}: {
  readonly events: NonNullable<InvocationDetail["events"]>;
  readonly project: string;
}) {
  const [text, setText] = useState("");
  const findBox = useRef<HTMLInputElement>(null);
  useHotkeys({ "/": () => findBox.current?.focus() });
  const found = events.targets
    .filter(({ label, kind }) => `${label} ${kind}`.toLowerCase().includes(text.toLowerCase()))
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.label < b.label ? -1 : 1));
  const left = found.length - mostShown;
  return (
    <section aria-label="Targets and tests" className="view">
      <div className="row actions-bar">
        <span className="faint number">
          {events.targets.length.toLocaleString("en")}
          {events.moreTargets ? " and more" : ""} targets
        </span>
        <span className="grow" />
        <SearchBox
          label="Filter targets"
          placeholder="Filter   /"
          value={text}
          box={findBox}
          onChange={setText}
        />
      </div>
      {found.length === 0 ? (
        <p className="faint center">
          {events.targets.length === 0
            ? "The build has sent no targets yet."
            : "No target matches the filter."}
        </p>
      ) : (
        <ul className="rows targets">
          {found.slice(0, mostShown).map((target) => (
            <TargetRow key={`${target.label} ${target.kind}`} target={target} project={project} />
          ))}
        </ul>
      )}
      {left > 0 ? (
        <p className="faint center">
          {left.toLocaleString("en")} more match: make the filter narrower.
        </p>
      ) : null}
    </section>
  );
}

function TargetRow({ target, project }: { target: InvocationTarget; project: string }) {
  const { aborted, label, kind, outputs, tests, testStatus } = target;
  const isBad = rankOf(target) < 2;
  return (
    <li>
      <ToolStateIcon state={stateOf(target)} />
      <span className="what">
        <span className="main">{shownText(label)}</span>
        <span className="faint">{shownText(aborted === null ? kind : `${kind} · ${aborted}`)}</span>
      </span>
      {testStatus === null ? (
        <span />
      ) : (
        <span className={`badge ${statusClass(testStatus)}`}>{wordsOf(testStatus)}</span>
      )}
      <span className="number right">
        {target.durationMs === null ? "" : durationText(target.durationMs)}
      </span>
      {isBad ? <TestLog tests={tests} label={label} /> : null}
      {tests.length === 0 && outputs.length === 0 ? null : (
        <details className="target-more" open={isBad && tests.length > 0}>
          <summary>
            {tests.length === 0 ? "" : `${testsText(tests)} `}
            {outputs.length === 0 ? "" : countText(outputs.length, "output")}
          </summary>
          {tests.length === 0 ? null : <TestTable tests={tests} />}
          <BlobLinks files={outputs} />
        </details>
      )}
      <TargetHistory project={project} label={label} />
    </li>
  );
}

function TestTable({ tests }: { tests: readonly InvocationTest[] }) {
  const ordered = tests.toSorted(
    (a, b) => a.run - b.run || a.shard - b.shard || a.attempt - b.attempt,
  );
  return (
    <div className="table-box">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Shard</th>
            <th scope="col">Attempt</th>
            <th scope="col">Result</th>
            <th scope="col">Took</th>
            <th scope="col">Files</th>
          </tr>
        </thead>
        <tbody>
          {ordered.map((test) => (
            <tr key={`${test.run} ${test.shard} ${test.attempt}`}>
              <td>{test.run}</td>
              <td>{test.shard}</td>
              <td>{test.attempt}</td>
              <td>
                <span className={`badge ${statusClass(test.status)}`}>{wordsOf(test.status)}</span>
                {test.cached ? <span className="faint"> cached</span> : null}
              </td>
              <td>{durationText(test.durationMs)}</td>
              <td>
                <BlobLinks files={test.files} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Counts the attempts of a test, and its shards and runs if it has several: `6 attempts of 3 shards`. */
function testsText(tests: readonly InvocationTest[]): string {
  const shards = new Set(tests.map(({ shard }) => shard)).size;
  const runs = new Set(tests.map(({ run }) => run)).size;
  return [
    countText(tests.length, "test attempt"),
    shards > 1 ? `of ${countText(shards, "shard")}` : "",
    runs > 1 ? `in ${countText(runs, "run")}` : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}

/** Failed, flaky, not ended, successful. */
function rankOf({ aborted, success, testStatus }: InvocationTarget): number {
  if (success === false || (testStatus !== null && statusClass(testStatus) === "is-failed"))
    return 0;
  if (testStatus === "FLAKY") return 1;
  return success === null && aborted === null ? 2 : 3;
}

function stateOf(target: InvocationTarget): InvocationState {
  if (rankOf(target) === 0) return "failed";
  if (target.success !== null) return "succeeded";
  return target.aborted === null ? "running" : "cancelled";
}

function statusClass(status: string): string {
  if (status === "PASSED") return "is-succeeded";
  if (status === "FLAKY") return "is-queued";
  return status === "NO_STATUS" ? "" : "is-failed";
}

const wordsOf = (status: string) => status.toLowerCase().replaceAll("_", " ");

const countText = (count: number, thing: string) =>
  `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
