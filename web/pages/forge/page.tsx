import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ForgeRepository } from "#api/forge.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { Ago } from "../../parts/times.tsx";
import { watchedOneQuery, watchedQuery } from "./load.ts";
import { DeliveryTable, HeadTable, PullTable, UnsentTable } from "./tables.tsx";
import "./forge.css";

/** Repositories that the farm watches at forges, and their state. */
export function ForgePage() {
  const { data } = useSuspenseQuery(watchedQuery);
  usePageTitle("Forges");
  if (data.repositories.length === 0) {
    return (
      <EmptyState heading="h1" title="No repository is watched" command="grange forge add git URL">
        The farm makes a graph for each push to a watched repository and, at GitHub, for each pull
        request.
      </EmptyState>
    );
  }
  return (
    <div className="page">
      <h1>Forges</h1>
      <ul className="watched">
        {data.repositories.map((each) => (
          <Watched key={each.name} repository={each} />
        ))}
      </ul>
    </div>
  );
}

function Watched({ repository }: { readonly repository: ForgeRepository }) {
  const [isOpen, setOpen] = useState(false);
  const { name, kind, url, error, reconciledAt, hasPulls, openPulls, defaultBranch } = repository;
  return (
    <li className="card">
      <header>
        <h2>
          <Link to="/repositories/$name" params={{ name }}>
            {name}
          </Link>
        </h2>
        <span className="badge">{kind}</span>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Less" : "More"}
        </button>
      </header>
      <p className="faint">
        {url} · {defaultBranch} · {hasPulls ? `${openText(openPulls)} · ` : ""}
        {reconciledAt === null ? (
          "not compared yet"
        ) : (
          <>
            compared <Ago time={reconciledAt} />
          </>
        )}
      </p>
      {error === null ? null : (
        <p className="forge-trouble" role="alert">
          {error}
        </p>
      )}
      {isOpen ? <WatchedDetail name={name} /> : null}
    </li>
  );
}

function openText(pulls: number): string {
  return pulls === 1 ? "1 open pull request" : `${pulls} open pull requests`;
}

function WatchedDetail({ name }: { readonly name: string }) {
  const { data, error } = useQuery(watchedOneQuery(name));
  if (error !== null) return <p className="forge-trouble">{error.message}</p>;
  if (data === undefined) return <p className="faint">Asking …</p>;
  return (
    <>
      <HeadTable heads={data.heads} />
      <PullTable pulls={data.pulls} />
      <DeliveryTable deliveries={data.deliveries} />
      <UnsentTable unsent={data.unsent} />
    </>
  );
}
