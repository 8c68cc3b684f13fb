import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Choice } from "../../parts/choice.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { CompareTwoActions } from "./compare-two-actions.tsx";
import { HitRates } from "./hit-rates.tsx";
import { cacheUseQuery, storeContentsQuery } from "./load.ts";
import { type CacheSearch, defaultDays, periods } from "./search.ts";
import { StoredBlobs } from "./stored-blobs.tsx";
import "./cache.css";

/** How well the cache works, what it holds, and why two actions are not the same. */
export function CachePage() {
  const search = useSearch({ from: "/cache" });
  const navigate = useNavigate({ from: "/cache" });
  const days = search.days ?? defaultDays;
  const { data: use } = useSuspenseQuery(cacheUseQuery(days));
  const { data: contents } = useSuspenseQuery(storeContentsQuery);
  usePageTitle("Cache");
  const change = (next: CacheSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const names = [...new Set(use.series.map(({ name }) => name))].toSorted();
  const isKnown = search.name !== undefined && names.includes(search.name);
  return (
    <div className="page cache-page">
      <h1>Cache</h1>
      <section aria-labelledby="hit-rates">
        <h2 id="hit-rates">Hit rates</h2>
        <div className="toolbar" role="toolbar" aria-label="What to show">
          <Choice
            label="Period"
            options={periods}
            chosen={days}
            textOf={(each) => `${each} d`}
            onChoose={(each) => change({ days: each })}
          />
          {names.length < 2 ? null : (
            <label>
              Project or repository{" "}
              <select
                value={isKnown ? search.name : ""}
                onChange={({ target }) => change({ name: target.value || undefined })}
              >
                <option value="">all</option>
                {names.map((name) => (
                  <option key={name} value={name}>
                    {shownText(name)}
                  </option>
                ))}
              </select>
            </label>
          )}
        </div>
        <HitRates use={use} project={isKnown ? search.name : undefined} />
      </section>
      <section aria-labelledby="stored">
        <h2 id="stored">Store</h2>
        <StoredBlobs contents={contents} />
      </section>
      <section aria-labelledby="compare">
        <h2 id="compare">Compare two actions</h2>
        <CompareTwoActions
          key={`${search.before} ${search.after} ${search.project}`}
          search={search}
          onCompare={change}
        />
      </section>
    </div>
  );
}
