import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { artifactsQuery, suitesQuery } from "../benchmarks/load.ts";

interface Props {
  readonly suite: string | undefined;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const offered = 8;

/** A form for the two artifacts; it offers the latest ones and their parents. */
export function PairChooser({ suite, before = "", after = "" }: Props) {
  const { data } = useSuspenseQuery(suitesQuery);
  const navigate = useNavigate();
  const [asked, setRequested] = useState({ before, after });
  const list = useId();
  const name = suite ?? data.suites[0]?.name ?? "";
  const { data: known } = useQuery(artifactsQuery(name));
  const latest = (known?.artifacts ?? [])
    .filter(({ parent, state }) => parent !== null && state === "completed")
    .slice(0, offered);
  if (data.suites.length === 0) return <p className="faint">There is no suite yet.</p>;
  const field = (label: string, key: "before" | "after") => (
    <label className="stacked">
      {label}
      <input
        required
        list={list}
        value={asked[key]}
        placeholder="a version, the date of a nightly, or a commit"
        onChange={({ target }) => setRequested((now) => ({ ...now, [key]: target.value.trim() }))}
      />
    </label>
  );
  return (
    <div className="pair-chooser">
      <form
        className="lab-fields"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ to: "/benchmarks/compare", search: { suite: name, ...asked } });
        }}
      >
        <label className="stacked">
          Suite
          <select
            value={name}
            onChange={({ target }) =>
              void navigate({ to: "/benchmarks/compare", search: { suite: target.value } })
            }
          >
            {data.suites.map((each) => (
              <option key={each.name}>{each.name}</option>
            ))}
          </select>
        </label>
        {field("Before", "before")}
        {field("After", "after")}
        <datalist id={list}>
          {known?.artifacts.map(({ tag }) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
        <button
          type="submit"
          className="primary"
          disabled={asked.before === "" || asked.after === ""}
        >
          Compare
        </button>
      </form>
      {latest.length === 0 ? null : (
        <>
          <h2>The latest artifacts with their predecessors</h2>
          <ul className="pair-list">
            {latest.map(({ tag, parent }) => (
              <li key={tag}>
                <Link
                  to="/benchmarks/compare"
                  search={{ suite: name, before: parent ?? "", after: tag }}
                >
                  {parent} → {tag}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
