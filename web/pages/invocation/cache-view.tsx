import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { InvocationDetail } from "#api/invocation.ts";
import type { InvocationMiss } from "#api/invocation-misses.ts";
import { WhatChanged } from "../../parts/compared-actions.tsx";
import { numberText } from "../../parts/number-text.ts";
import { shownText } from "../../parts/shown-text.ts";
import { missesQuery } from "./load.ts";

/** The cache score of a build, and why each executed action was not in the cache. */
export function CacheView({ invocation }: { readonly invocation: InvocationDetail }) {
  const { data, error, fetchNextPage, hasNextPage, isFetching } = useInfiniteQuery(
    missesQuery(invocation),
  );
  const { hits, succeeded, failed } = invocation.counts;
  const all = hits + succeeded + failed;
  const misses = data?.pages.flatMap((page) => page.misses) ?? [];
  return (
    <section aria-label="Cache" className="view">
      <dl className="run-facts">
        <div>
          <dt>Cache score</dt>
          <dd>
            {all === 0 ? "–" : `${Math.floor((100 * hits) / all)} %`}
            <span className="faint">
              {" "}
              {numberText(hits)} of {numberText(all)} actions were in the cache
            </span>
          </dd>
        </div>
      </dl>
      {error === null ? null : (
        <p role="alert" className="problem">
          The misses could not be loaded: {error.message}
        </p>
      )}
      {data !== undefined && misses.length === 0 && !hasNextPage ? (
        <p className="faint">It executed no action.</p>
      ) : null}
      <ul className="rows misses">
        {misses.map((miss) => (
          <Miss key={miss.executionId} miss={miss} />
        ))}
      </ul>
      {hasNextPage ? (
        <button type="button" disabled={isFetching} onClick={() => void fetchNextPage()}>
          More misses
        </button>
      ) : null}
    </section>
  );
}

function Miss({ miss }: { readonly miss: InvocationMiss }) {
  const { before, executionId, mnemonic, paths, sentence, target } = miss;
  return (
    <li>
      <span className="what">
        <Link className="main" to="/executions/$id" params={{ id: executionId }}>
          {target === "" ? executionId.slice(0, 8) : shownText(target)}
        </Link>
        <span className="faint">{shownText(mnemonic)}</span>
      </span>
      <span className="what">
        <span>{shownText(sentence)}</span>
        {paths.length === 0 ? null : (
          <span className="faint">
            {paths.map((path, index) => (
              <span key={path}>
                {index === 0 ? null : ", "}
                <code>{shownText(path)}</code>
              </span>
            ))}
          </span>
        )}
        {before === null ? null : <WhatChanged execution={executionId} before={before} />}
      </span>
    </li>
  );
}
