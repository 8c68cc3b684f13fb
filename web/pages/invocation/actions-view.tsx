import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import type { InvocationAction, InvocationActionState, InvocationDetail } from "#api/invocation.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { numberText } from "../../parts/number-text.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { Elapsed } from "../../parts/times.tsx";
import { actionsIn, countOf, ToolStateIcon, toolStateWords } from "../../parts/tool-state.tsx";
import { actionsQuery } from "./load.ts";

interface Props {
  readonly invocation: InvocationDetail;
  readonly state: InvocationActionState | undefined;
  readonly text: string;
  /** Whether actions from the cache are left out of the list of all. */
  readonly isFolded: boolean;
  readonly onFold: (isFolded: boolean) => void;
  readonly onState: (state: InvocationActionState | undefined) => void;
  readonly onText: (text: string) => void;
}

const rowHeight = 30;
const states = ["failed", "cancelled", "executing", "queued", "succeeded", "hit"] as const;

/** The actions that an invocation requested, in the order of the requests. */
export function ActionsView({ invocation, state, text, ...props }: Props) {
  const { counts } = invocation;
  // When all came from the cache, there is nothing else to list.
  const canFold = state === undefined && counts.hits > 0 && actionsIn(counts) > counts.hits;
  const isFolded = props.isFolded && canFold;
  const query = actionsQuery(invocation, { state, text, isFolded });
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, isPending } =
    useInfiniteQuery(query);
  const actions = data?.pages.flatMap((page) => page.actions) ?? [];
  const [selected, setSelected] = useState(-1);
  const scroller = useRef<HTMLDivElement>(null);
  const findBox = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  useLiveActions(invocation);
  // Another filter shows another list, so the selection is cleared.
  const onState = (next: InvocationActionState | undefined) => {
    setSelected(-1);
    props.onState(next);
  };
  const onText = (next: string) => {
    setSelected(-1);
    props.onText(next);
  };

  // oxlint-disable-next-line react/incompatible-library -- no compiler memoizes here
  const rows = useVirtualizer({
    count: actions.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  const isNearEnd = last >= actions.length - 50;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isNearEnd, hasNextPage, isFetchingNextPage, fetchNextPage]);

  const select = (position: number) => {
    const next = Math.max(0, Math.min(position, actions.length - 1));
    setSelected(next);
    rows.scrollToIndex(next);
  };
  const chosen = actions[selected]?.executionId ?? undefined;
  useHotkeys({
    "/": () => findBox.current?.focus(),
    f: () => onState(state === "failed" ? undefined : "failed"),
    j: () => select(selected + 1),
    k: () => select(selected - 1),
    Enter:
      chosen === undefined
        ? undefined
        : () => void navigate({ to: "/executions/$id", params: { id: chosen } }),
  });

  // Cancelled actions are rare.
  const isOffered = (each: InvocationActionState) =>
    each !== "cancelled" || counts.cancelled > 0 || state === each;
  return (
    <section className="actions" aria-label="Actions">
      <div className="row actions-bar">
        <div className="segments" role="group" aria-label="Only actions that are">
          <button
            type="button"
            aria-pressed={state === undefined}
            onClick={() => onState(undefined)}
          >
            all {numberText(actionsIn(counts))}
          </button>
          {states.filter(isOffered).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={state === each}
              disabled={countOf(counts, each) === 0 && state !== each}
              onClick={() => onState(state === each ? undefined : each)}
            >
              {each === "succeeded" ? "executed" : toolStateWords[each]}{" "}
              <span className="number">{numberText(countOf(counts, each))}</span>
            </button>
          ))}
        </div>
        {canFold ? (
          <button type="button" aria-pressed={!isFolded} onClick={() => props.onFold(!isFolded)}>
            {isFolded ? "Show" : "Fold"} {numberText(counts.hits)} from the cache
          </button>
        ) : null}
        <span className="grow" />
        <SearchBox
          label="Filter by target or mnemonic"
          placeholder="Target or mnemonic   /"
          value={text}
          box={findBox}
          onChange={onText}
        />
      </div>
      {error === null ? null : (
        <p role="alert" className="problem">
          The actions could not be loaded: {error.message}
        </p>
      )}
      {actions.length === 0 && !isPending && !hasNextPage ? (
        <p className="faint center">
          {actionsIn(counts) === 0
            ? "The build requested no action: all outputs were up to date, or it does not build remotely."
            : "No action matches the filter."}
        </p>
      ) : null}
      {actions.length === 0 ? null : (
        // For the eye: each cell has its own description.
        <div className="action-head" aria-hidden="true">
          <span />
          <span>Target</span>
          <span>Mnemonic</span>
          <span>Outcome</span>
          <span>Worker</span>
          <span className="right">Waited</span>
          <span className="right">Took</span>
        </div>
      )}
      <div ref={scroller} className="action-scroller" tabIndex={0} aria-label="All actions">
        <div
          className="action-rows"
          role="list"
          aria-label="Actions"
          style={{ height: rows.getTotalSize() }}
        >
          {rows.getVirtualItems().map((row) => {
            const action = actions[row.index];
            return action === undefined ? null : (
              <div
                key={row.index}
                role="listitem"
                className={`action-row${row.index === selected ? " selected" : ""}`}
                aria-current={row.index === selected}
                style={{ transform: `translateY(${row.start}px)` }}
                onClick={() => setSelected(row.index)}
              >
                <ActionCells action={action} />
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

function ActionCells({ action }: { action: InvocationAction }) {
  const { executionId, outcome, state, target } = action;
  const name = target === "" ? action.actionDigest.slice(0, 16) : shownText(target);
  const [configuration, mnemonic, worker] = [
    action.configuration,
    action.mnemonic,
    action.worker ?? "",
  ].map(shownText);
  return (
    <>
      <ToolStateIcon state={state} />
      {executionId === null ? (
        <span className="ellipsis" title={name}>
          {name}
        </span>
      ) : (
        <Link
          className="ellipsis"
          to="/executions/$id"
          params={{ id: executionId }}
          title={configuration === "" ? name : `${name}, configuration ${configuration}`}
        >
          {name}
        </Link>
      )}
      <span className="faint ellipsis">{mnemonic}</span>
      <span
        className="faint ellipsis"
        title={action.joined ? "Another invocation had already requested it" : ""}
      >
        {outcome === null || outcome === "succeeded"
          ? action.joined
            ? "joined another's"
            : ""
          : `${outcome.replaceAll("_", " ")}${action.exitCode ? `, exit ${action.exitCode}` : ""}`}
      </span>
      <span className="faint ellipsis">{worker}</span>
      <span className="right" title="Waited">
        {state === "hit" ? null : (
          <Elapsed from={action.requestedAt} to={action.startedAt ?? action.finishedAt} />
        )}
      </span>
      <span className="right" title="Took">
        {action.startedAt === null ? null : (
          <Elapsed from={action.startedAt} to={action.finishedAt} />
        )}
      </span>
    </>
  );
}

/** The invocation's own counts show when actions have changed. */
function useLiveActions({ project, id, counts }: InvocationDetail): void {
  const client = useQueryClient();
  const countsText = JSON.stringify(counts);
  const before = useRef(countsText);
  useEffect(() => {
    if (before.current === countsText) return;
    before.current = countsText;
    void client.invalidateQueries({ queryKey: ["invocation", project, id, "actions"] });
  }, [countsText, client, project, id]);
}
