import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Repository } from "#api/graph.ts";
import type { GraphPreview } from "#api/preview.ts";
import { TextField } from "../../parts/text-field.tsx";
import { branchesQuery } from "../branches/load.ts";
import { type Hole, type Holes } from "./holes-of.ts";
import { PatchesField } from "./patches-field.tsx";
import type { NewGraphSearch } from "./search.ts";
import { SourceField } from "./source-field.tsx";
import { UrgencyFields } from "./urgency-fields.tsx";

interface Props {
  readonly repositories: readonly Repository[];
  readonly chosen: NewGraphSearch;
  readonly holes: Holes;
  /** The resolved values, after the branch settings are applied. */
  readonly resolved: GraphPreview | undefined;
  readonly onChange: (next: NewGraphSearch) => void;
}

export function ChoiceForm({ repositories, chosen, holes, resolved, onChange }: Props) {
  const name = repositories.find(({ url }) => url === chosen.repository)?.name;
  // Most users keep HEAD: the suggestions are requested when the field is entered.
  const [suggests, setSuggests] = useState(false);
  const { data: branches } = useQuery({
    ...branchesQuery(name ?? ""),
    enabled: suggests && name !== undefined,
  });
  const job = onlyJob(chosen.select, holes);
  return (
    <form className="choice" onSubmit={(event) => event.preventDefault()}>
      <label className="stacked">
        Repository
        <select
          value={chosen.repository}
          onChange={(event) => onChange({ repository: event.target.value, rev: undefined })}
        >
          {repositories.map((repository) => (
            <option key={repository.name} value={repository.url}>
              {repository.name}
            </option>
          ))}
        </select>
      </label>
      <TextField
        label="Branch, tag or commit"
        isLive
        value={chosen.rev ?? ""}
        suggestions={(branches ?? []).map(({ branch }) => branch).filter((each) => each !== "*")}
        onFocus={() => setSuggests(true)}
        onChange={(rev) => onChange({ rev: rev === "" ? undefined : rev })}
      />
      {holes.graphs.length === 0 ? null : (
        <label className="stacked">
          Graph
          <select
            value={chosen.graph ?? ""}
            onChange={(event) => onChange({ graph: event.target.value || undefined })}
          >
            <option value="">all jobs</option>
            {holes.graphs.map(({ name: graph, description }) => (
              <option key={graph} value={graph}>
                {description === "" ? graph : `${graph}: ${description}`}
              </option>
            ))}
          </select>
        </label>
      )}
      {holes.jobs.length === 0 ? null : (
        <label className="stacked">
          One job
          <select
            value={job ?? ""}
            onChange={(event) => {
              const { value } = event.target;
              onChange({ select: value === "" ? undefined : `name:${value}` });
            }}
          >
            <option value="">no, all selected jobs</option>
            {holes.jobs.map(({ name: each }) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      )}
      <TextField
        label="Only these jobs, and what they need"
        isLive
        placeholder="kind:test & !windows"
        value={chosen.select ?? ""}
        onChange={(select) => onChange({ select: select === "" ? undefined : select })}
      />
      <SourceField
        source={chosen.definitionsFrom}
        onChange={(definitionsFrom) => onChange({ definitionsFrom })}
      />
      <UrgencyFields chosen={chosen} onChange={onChange} />
      <TextField
        label="Set"
        isLive
        title="You can retrigger the graphs of a set together, also across repositories. A new name makes a new set."
        placeholder="the name of a set, or a graph in it"
        value={chosen.set ?? ""}
        onChange={(set) => onChange({ set: set === "" ? undefined : set })}
      />
      {holes.switches.length === 0 ? null : (
        <fieldset>
          <legend>Switches</legend>
          {holes.switches.map((hole) => (
            <Switch
              key={hole.name}
              hole={hole}
              value={chosen.switches?.[hole.name] ?? resolved?.switches[hole.name] ?? hole.default}
              onChange={(value) =>
                onChange({ switches: { ...chosen.switches, [hole.name]: value } })
              }
            />
          ))}
        </fieldset>
      )}
      {holes.parameters.length === 0 ? null : (
        <fieldset>
          <legend>Parameters</legend>
          {holes.parameters.map((hole) => (
            <TextField
              key={hole.name}
              label={hole.name}
              title={hole.description}
              isLive
              value={written(chosen.parameters?.[hole.name] ?? resolved?.parameters[hole.name])}
              onChange={(text) =>
                onChange({ parameters: { ...chosen.parameters, [hole.name]: read(text, hole) } })
              }
            />
          ))}
        </fieldset>
      )}
      <PatchesField
        key={job ?? ""}
        patches={chosen.patches}
        job={job}
        onChange={(patches) => onChange({ patches })}
      />
    </form>
  );
}

/** Returns the job that is selected by its name alone; undefined when several are selected. */
function onlyJob(select: string | undefined, { jobs }: Holes): string | undefined {
  return jobs.find(({ name }) => select === `name:${name}`)?.name;
}

function Switch(props: {
  readonly hole: Hole;
  readonly value: unknown;
  readonly onChange: (value: boolean | string) => void;
}) {
  const { hole, value, onChange } = props;
  if (typeof hole.default === "string") {
    return (
      <TextField
        label={hole.name}
        title={hole.description}
        isLive
        value={written(value)}
        onChange={onChange}
      />
    );
  }
  return (
    <label title={hole.description}>
      <input
        type="checkbox"
        checked={value === true || value === "on"}
        onChange={(event) => onChange(event.target.checked)}
      />{" "}
      {hole.name} <span className="faint">{hole.description}</span>
    </label>
  );
}

function written(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Users write texts without quotes; all other values are JSON. */
function read(text: string, hole: Hole) {
  if (typeof hole.default === "string" || hole.default === undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
