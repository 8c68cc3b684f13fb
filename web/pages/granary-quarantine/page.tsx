import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { QuarantinedResult } from "#api/granary.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { GranaryHead } from "../granary/granary-head.tsx";
import { quarantineMadeFrom, quarantineQuery, releaseResult } from "../granary/load.ts";
import { countText } from "../granary/words.ts";
import { shortKey } from "../granary-build/requested-list.tsx";
import "../granary/granary.css";

/** Results that differed when they were made again; nobody receives them. */
export function QuarantinePage() {
  const { project } = useSearch({ from: "/granary/quarantine" });
  const { results } = useSuspenseQuery(quarantineQuery(project)).data;
  usePageTitle("Quarantine", "Granary");
  return (
    <div className="page granary-page">
      <GranaryHead title="Quarantine" project={project} />
      {results.length === 0 ? (
        <EmptyState title="Nothing is in quarantine" command="grange granary --cross-check 0.01">
          Granaries execute a small share of cache hits again and compare the results. If a result
          differs, the farm no longer serves it and lists it here. To check one hit in a hundred:
        </EmptyState>
      ) : (
        <ol className="quarantine">
          {results.map((result) => (
            <li key={`${result.divergence.namespace} ${result.divergence.key}`} className="card">
              <Quarantined of={result} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function Quarantined({ of }: { readonly of: QuarantinedResult }) {
  const { divergence, foundAt, foundBy, givenTo, madeFrom, producer, releasedAt, releasedBy } = of;
  const { alsoInQuarantine } = of;
  return (
    <>
      <div className="row">
        <h2>
          <span className="faint">{shownText(divergence.namespace)}</span>{" "}
          <Copyable text={divergence.key} shown={shortKey(divergence.key)} label="key" />
        </h2>
        <span className="grow" />
        {releasedAt === null ? (
          <Release of={of} />
        ) : (
          <span className="faint">
            released by {shownText(releasedBy ?? "")} <Ago time={releasedAt} />
          </span>
        )}
      </div>
      <p>
        Found <Ago time={foundAt} /> by {shownText(foundBy)} on {shownText(divergence.machine)}
        {producer === "" ? "; its writer is not known." : `; written by ${shownText(producer)}.`}
      </p>
      <dl className="facts">
        <dt>kept</dt>
        <dd>
          <Copyable text={divergence.kept} shown={shortKey(divergence.kept)} label="digest" />
        </dd>
        <dt>made now</dt>
        <dd>
          <Copyable text={divergence.madeNow} shown={shortKey(divergence.madeNow)} label="digest" />
        </dd>
      </dl>
      {divergence.differs.length === 0 ? null : (
        <details>
          <summary>{countText(divergence.differs.length, "file differs", "files differ")}</summary>
          <ul>
            {divergence.differs.map((path) => (
              <li key={path}>
                <code>{shownText(path)}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      <p>
        {givenTo.length === 0
          ? "No reported build received it."
          : `Sent to ${countText(givenTo.length, "build")}, which published ${countText(madeFrom, "result")} afterwards:`}
      </p>
      {alsoInQuarantine === 0 ? null : (
        <p>
          {countText(alsoInQuarantine, "of them is", "of them are")} in quarantine as well, and{" "}
          {alsoInQuarantine === 1 ? "is" : "are"} released with it.
        </p>
      )}
      {releasedAt === null && madeFrom > 0 ? <TakeAlso of={of} /> : null}
      {givenTo.length === 0 ? null : (
        <ul className="used-indexes">
          {givenTo.map(({ at, build, commit, machine }) => (
            <li key={build}>
              <Link to="/granary/builds/$id" params={{ id: build }}>
                {shownText(machine)}
                {commit === "" ? "" : `, commit ${commit.slice(0, 10)}`}
              </Link>{" "}
              <Ago time={at} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/**
 * Results that may be made from the wrong one. An administrator who knows that more than a timestamp was wrong removes
 * them, too.
 */
function TakeAlso({ of }: { readonly of: QuarantinedResult }) {
  const { busy, action, problem } = useAction(of, quarantineMadeFrom);
  return (
    <p className="button-row">
      <ConfirmButton
        label="Quarantine later results…"
        question={`Also put later results of these builds into quarantine? They published ${countText(of.madeFrom, "result")}.`}
        confirm="Quarantine them"
        mild
        busy={busy}
        onConfirm={action}
      >
        Builds make all of them again when they request them, including results that do not depend
        on this one: the farm does not know which results depend on it. Do this if the result was
        wrong, and not only different.
      </ConfirmButton>
      {problem}
    </p>
  );
}

/** An action on one result, with the farm's error message. */
function useAction(
  { project: ofProject, divergence: { namespace, key } }: QuarantinedResult,
  tellFarm: typeof releaseResult,
) {
  const client = useQueryClient();
  const { project } = useSearch({ from: "/granary/quarantine" });
  const telling = useMutation({
    mutationFn: () => tellFarm({ project: ofProject, namespace, key }),
    onSettled: () => client.invalidateQueries(quarantineQuery(project)),
  });
  return {
    busy: telling.isPending,
    action: () => telling.mutate(),
    problem:
      telling.error === null ? null : (
        <span role="alert" className="problem">
          {telling.error.message}
        </span>
      ),
  };
}

function Release({ of }: { readonly of: QuarantinedResult }) {
  const { busy, action, problem } = useAction(of, releaseResult);
  return (
    <span className="button-row">
      {problem}
      <ConfirmButton
        label="Release…"
        question="Release this result from quarantine?"
        confirm="Release"
        mild
        busy={busy}
        onConfirm={action}
      >
        The farm deletes the stored result, and the next build that requests it makes it again. Do
        this when you know the reason of the difference: for example a clock, a path or an order of
        files in the result, or a machine that you no longer trust.
      </ConfirmButton>
    </span>
  );
}
