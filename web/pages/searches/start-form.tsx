import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { StartSearch } from "#api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { NumberField } from "../../parts/number-field.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { repositoriesQuery } from "../repositories/load.ts";
import { Forecast } from "./forecast.tsx";
import { forecastQuery, startSearch } from "./load.ts";
import type { SearchesSearch } from "./search.ts";

/** Values that only the form stores, because they are not useful in a link. */
interface SearchNumbers {
  readonly step: number;
  readonly parallel: number;
  readonly sameResults: number;
}

interface Props {
  readonly search: SearchesSearch;
  readonly onChange: (next: SearchesSearch) => void;
}

/** Shows the forecast of a search before it starts. */
export function StartForm({ search, onChange }: Props) {
  const navigate = useNavigate();
  const { data: repositories = [] } = useQuery(repositoriesQuery);
  const [numbers, setNumbers] = useState<SearchNumbers>({ step: 1, parallel: 1, sameResults: 1 });
  const request = requestedSearch(search, numbers);
  const forecast = useQuery(forecastQuery(request));
  const start = useMutation({
    mutationFn: (wanted: StartSearch) => startSearch(wanted),
    onSuccess: ({ search: started }) =>
      started !== null && navigate({ to: "/searches/$id", params: { id: started.id } }),
  });
  const kind = search.kind ?? "bisect";
  const isBisect = kind === "bisect";
  const number = (label: string, title: string, key: keyof SearchNumbers, max: number) => (
    <NumberField
      label={label}
      title={title}
      min={1}
      max={max}
      value={numbers[key]}
      onChange={(value) => setNumbers((now) => ({ ...now, [key]: value }))}
    />
  );
  const problem = start.error ?? (request === undefined ? null : forecast.error);
  return (
    <form className="card form start-search" onSubmit={(event) => event.preventDefault()}>
      <h2>New search</h2>
      <Choice
        label="Kind of search"
        options={["bisect", "backfill"] as const}
        chosen={kind}
        onChoose={(each) => onChange({ kind: each })}
      />
      <p className="faint">
        {isBisect
          ? "Finds the first bad commit after one that is known to be good."
          : "Runs jobs on the commits of a range, or on every n-th of them."}
      </p>
      <label className="stacked">
        Repository
        <select
          value={search.repository ?? ""}
          onChange={(event) => onChange({ repository: event.target.value || undefined })}
        >
          <option value="">choose one</option>
          {repositories.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <TextField
        label="Jobs"
        placeholder="kind:test & linux"
        value={search.selection ?? ""}
        onChange={(selection) => onChange({ selection: selection || undefined })}
      />
      <TextField
        label={isBisect ? "Good commit" : "After commit"}
        value={search.from ?? ""}
        onChange={(from) => onChange({ from: from || undefined })}
      />
      <TextField
        label={isBisect ? "Bad commit" : "Up to commit"}
        placeholder="main"
        value={search.to ?? ""}
        onChange={(to) => onChange({ to: to || undefined })}
      />
      <div className="row">
        {isBisect
          ? number(
              "Commits at the same time",
              "Number of commits on which the jobs run at the same time",
              "parallel",
              50,
            )
          : number("Every", "1 for every commit of the range", "step", 1_000_000)}
        {isBisect
          ? number(
              "Equal results",
              "Number of equal results that decide a commit. Use more than one for flaky jobs.",
              "sameResults",
              20,
            )
          : null}
      </div>
      <div aria-live="polite" aria-busy={forecast.isFetching}>
        {request === undefined || forecast.data === undefined ? null : (
          <Forecast kind={kind} forecast={forecast.data.forecast} />
        )}
      </div>
      {problem === null ? null : (
        <p role="alert" className="problem">
          {problem.message}
        </p>
      )}
      <button
        type="submit"
        className="primary"
        disabled={request === undefined || forecast.data === undefined || start.isPending}
        onClick={() => request !== undefined && start.mutate(request)}
      >
        {start.isPending ? "Beginning…" : "Begin the search"}
      </button>
    </form>
  );
}

/** Returns the search of the form; undefined while a value is missing. */
function requestedSearch(
  { repository, kind = "bisect", selection = "", from = "", to = "" }: SearchesSearch,
  { step, parallel, sameResults }: SearchNumbers,
): StartSearch | undefined {
  if (repository === undefined || selection === "" || from === "" || to === "") return undefined;
  return kind === "backfill"
    ? { kind, repository, selection, from, to, step }
    : { kind, repository, selection, good: from, bad: to, parallel, sameResults };
}
