import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { Copyable } from "../../parts/copy.tsx";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { BuildList } from "./build-list.tsx";
import { GranaryHead } from "./granary-head.tsx";
import { buildsQuery, savingsQuery } from "./load.ts";
import { NoBuilds } from "./no-builds.tsx";
import { SavingsChart } from "./savings-chart.tsx";
import { SavingsTiles } from "./savings-tiles.tsx";
import type { GranaryBuildsSearch } from "./search.ts";
import { SourceLegend } from "./source-bar.tsx";
import { StoreLine } from "./store-line.tsx";
import "../times/times.css";
import "./granary.css";

/** The savings by granaries, and their reported builds. */
export function GranaryPage() {
  const search = useSearch({ from: "/granary" });
  const navigate = useNavigate({ from: "/granary" });
  const pages = useSuspenseInfiniteQuery(buildsQuery(search));
  const { data } = pages;
  const { days } = useSuspenseQuery(savingsQuery(search.project)).data;
  const projectBox = useRef<HTMLInputElement>(null);
  const [selected, setSelected] = useState(-1);
  usePageTitle("Granary");

  const builds = data.pages.flatMap((page) => page.builds);
  const chosen = builds[selected];
  useHotkeys({
    "/": () => projectBox.current?.focus(),
    j: () => setSelected(Math.min(selected + 1, builds.length - 1)),
    k: () => setSelected(Math.max(selected - 1, 0)),
    Enter:
      chosen === undefined
        ? undefined
        : () => void navigate({ to: "/granary/builds/$id", params: { id: chosen.id } }),
  });
  const change = (next: GranaryBuildsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });

  const isNarrowed = search.project !== undefined || search.commit !== undefined;
  const isEmpty = builds.length === 0 && !isNarrowed;
  return (
    <div className="page granary-page">
      <GranaryHead title="Granary" project={search.project}>
        <SearchBox
          label="Project"
          placeholder="Project   /"
          value={search.project ?? ""}
          box={projectBox}
          onChange={(project) => change({ project: project || undefined })}
        />
      </GranaryHead>
      {isEmpty ? (
        <NoBuilds />
      ) : (
        <>
          {days.length === 0 ? null : (
            <>
              <SavingsTiles days={days} />
              <SavingsChart days={days} />
            </>
          )}
          <SourceLegend />
          {search.commit === undefined ? null : (
            <p>
              Only those of commit{" "}
              <Copyable text={search.commit} shown={search.commit.slice(0, 10)} label="commit" />{" "}
              <button type="button" className="quiet" onClick={() => change({ commit: undefined })}>
                Show all
              </button>
            </p>
          )}
          {builds.length === 0 ? (
            <p className="faint center">No build matches.</p>
          ) : (
            <BuildList builds={builds} selected={selected} />
          )}
          <MoreButton pages={pages}>Load older builds</MoreButton>
        </>
      )}
      <StoreLine />
    </div>
  );
}
