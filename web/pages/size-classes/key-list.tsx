import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { KeyTable } from "./key-table.tsx";
import { sizeClassKeysQuery } from "./load.ts";

/** The most expensive keys under which executions are stored. */
export function KeyList() {
  const { find = "" } = useSearch({ from: "/size-classes" });
  const navigate = useNavigate({ from: "/size-classes" });
  const box = useRef<HTMLInputElement>(null);
  const pages = useInfiniteQuery(sizeClassKeysQuery(find));
  const { data, error } = pages;
  useHotkeys({ "/": () => box.current?.focus() });
  const keys = data?.pages.flatMap((page) => page.keys) ?? [];
  return (
    <section aria-label="The most expensive actions">
      <div className="row list-head">
        <h2>The most expensive actions</h2>
        <span className="grow" />
        <SearchBox
          label="Find by target, mnemonic or key"
          placeholder="Find   /"
          value={find}
          box={box}
          onChange={(text) =>
            void navigate({
              search: { find: text || undefined },
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
      {error === null ? null : (
        <p role="alert" className="problem">
          {error.message}
        </p>
      )}
      {data !== undefined && keys.length === 0 ? (
        <p className="faint">
          {find === ""
            ? "No recent action could run on more than one class."
            : "No action matches."}
        </p>
      ) : (
        <KeyTable keys={keys} />
      )}
      <MoreButton pages={pages}>Load cheaper actions</MoreButton>
    </section>
  );
}
