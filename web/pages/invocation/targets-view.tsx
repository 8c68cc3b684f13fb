import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { InvocationDetail, InvocationTarget, InvocationTest } from "#api/invocation.ts";
import type { InvocationTargets, TargetOfInvocation } from "#api/invocation-targets.ts";
import { durationText } from "../../parts/duration.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { ToolStateIcon, toolStateWords } from "../../parts/tool-state.tsx";
import { ActionTests } from "./action-tests.tsx";
import { BlobLinks } from "./blob-links.tsx";
import { targetsQuery } from "./load.ts";
import { TestLog } from "./test-log.tsx";

/** Targets and tests, failed ones first: as the tool reported them, and as its actions name them. */
export function TargetsView({ invocation }: { readonly invocation: InvocationDetail }) {
  const [text, setText] = useState("");
  const findBox = useRef<HTMLInputElement>(null);
  useHotkeys({ "/": () => findBox.current?.focus() });
  const query = useInfiniteQuery(targetsQuery(invocation, text));
  const { data, error, isPlaceholderData } = query;
  const [first] = data?.pages ?? [];
  const targets = data?.pages.flatMap((page) => page.targets) ?? [];
  const reported = new Map(
    (invocation.events?.targets ?? []).map((target) => [target.label, target]),
  );
  return (
    <section aria-label="Targets and tests" className="view" aria-busy={isPlaceholderData}>
      <div className="row actions-bar">
        {first === undefined ? null : (
          <span className="faint number">
            {countText(first.count, "target")}
            {first.earlier.length === 0
              ? ""
              : `, each with its states in the ${countText(first.earlier.length, "build")} before this one, the oldest first`}
          </span>
        )}
        <span className="grow" />
        <SearchBox
          label="Filter targets"
          placeholder="Filter   /"
          value={text}
          box={findBox}
          onChange={setText}
        />
      </div>
      {error === null ? null : (
        <p role="alert" className="problem">
          The targets could not be loaded: {error.message}
        </p>
      )}
      {first === undefined || targets.length > 0 ? null : (
        <p className="faint center">
          {text === ""
            ? "The build has no targets: it has sent none, and no action names one."
            : "No target matches the filter."}
        </p>
      )}
      {first === undefined || targets.length === 0 ? null : (
        <ul className="rows targets">
          {targets.map((target) => (
            <TargetRow
              key={`${target.label} ${target.aspect}`}
              target={target}
              reported={reported.get(nameOf(target))}
              builds={first.earlier}
              invocation={invocation}
            />
          ))}
        </ul>
      )}
      <MoreButton pages={query}>More targets</MoreButton>
    </section>
  );
}

interface TargetRowProps {
  readonly target: TargetOfInvocation;
  /** With its outputs and tests, if build events name it. */
  readonly reported: InvocationTarget | undefined;
  readonly builds: InvocationTargets["earlier"];
  readonly invocation: InvocationDetail;
}

function TargetRow({ target, reported, builds, invocation }: TargetRowProps) {
  const { aborted, durationMs, earlier, kind, label, state, testActions, testStatus } = target;
  const { outputs = [], tests = [] } = reported ?? {};
  const isBad = state === "failed" || state === "flaky";
  const { project } = invocation;
  return (
    <li>
      <ToolStateIcon state={state} />
      <span className="what">
        {target.aspect === "" ? (
          <Link
            className="main"
            to="/targets"
            search={{ label, ...(project === "default" ? {} : { project }) }}
          >
            {shownText(label)}
          </Link>
        ) : (
          <span className="main">{shownText(nameOf(target))}</span>
        )}
        <span className="faint">
          {[kind, aborted ?? "", actionsText(target)]
            .filter((part) => part !== "")
            .map(shownText)
            .join(" · ")}
        </span>
      </span>
      <EarlierStates states={earlier} builds={builds} />
      {testStatus === null ? (
        <span />
      ) : (
        <span className={`badge ${statusClass(testStatus)}`}>{wordsOf(testStatus)}</span>
      )}
      <span className="number right">{durationMs === null ? "" : durationText(durationMs)}</span>
      {isBad ? <TestLog tests={tests} label={label} /> : null}
      {tests.length === 0 && outputs.length === 0 ? null : (
        <details className="target-more" open={isBad && tests.length > 0}>
          <summary>
            {tests.length === 0 ? "" : `${testsText(tests)} `}
            {outputs.length === 0 ? "" : countText(outputs.length, "output")}
          </summary>
          {tests.length === 0 ? null : <TestTable tests={tests} name={nameOf(target)} />}
          <BlobLinks files={outputs} />
        </details>
      )}
      {tests.length > 0 || testActions === 0 ? null : (
        <ActionTests invocation={invocation} label={label} count={testActions} />
      )}
    </li>
  );
}

/** The states of a target in earlier builds, the oldest first: a cell for each build, empty where it was not built. */
function EarlierStates(props: {
  readonly states: TargetOfInvocation["earlier"];
  readonly builds: InvocationTargets["earlier"];
}) {
  const cells = props.states
    .map((state, index) => ({ state, build: props.builds[index] }))
    .toReversed();
  const words = cells.map(({ state }) => (state === null ? "not built" : toolStateWords[state]));
  if (cells.length === 0) return <span />;
  return (
    <span
      className="earlier-states"
      role="img"
      aria-label={`In earlier builds: ${words.join(", ")}`}
    >
      {cells.map(({ state, build }) => (
        <span
          key={build?.invocation}
          title={shownText(
            `${state === null ? "not" : toolStateWords[state]} in build ${(build?.commit ?? build?.invocation ?? "").slice(0, 8)}`,
          )}
        >
          {state === null ? null : <ToolStateIcon state={state} silent />}
        </span>
      ))}
    </span>
  );
}

function TestTable({
  tests,
  name,
}: {
  readonly tests: readonly InvocationTest[];
  readonly name: string;
}) {
  const ordered = tests.toSorted(
    (a, b) => a.run - b.run || a.shard - b.shard || a.attempt - b.attempt,
  );
  return (
    <ScrollableTable label={`Tests of ${shownText(name)}`}>
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
    </ScrollableTable>
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

/** The name under which build events list it. */
function nameOf({ aspect, label }: Pick<TargetOfInvocation, "aspect" | "label">): string {
  return aspect === "" ? label : `${label} (${aspect})`;
}

/** Counts its actions: `3 executed, 12 from the cache`. */
function actionsText({ executed, hits, failed }: TargetOfInvocation): string {
  return [
    executed > 0 ? `${numberText(executed)} executed` : "",
    failed > 0 ? `${numberText(failed)} failed` : "",
    hits > 0 ? `${numberText(hits)} from the cache` : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function statusClass(status: string): string {
  if (status === "PASSED") return "is-succeeded";
  if (status === "FLAKY") return "is-queued";
  return status === "NO_STATUS" ? "" : "is-failed";
}

const wordsOf = (status: string) => status.toLowerCase().replaceAll("_", " ");

const countText = (count: number, thing: string) =>
  `${numberText(count)} ${thing}${count === 1 ? "" : "s"}`;
