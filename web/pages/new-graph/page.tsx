import { useMutation, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { SubmittedGraph } from "#api/graph.ts";
import { tell } from "../../farm/ask.ts";
import { newId } from "../../parts/new-id.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { repositoriesQuery } from "../repositories/load.ts";
import { ChoiceForm } from "./choice-form.tsx";
import { holesOf } from "./holes-of.ts";
import { catalogQuery, choiceOf, previewQuery } from "./load.ts";
import { Preview } from "./preview.tsx";
import type { NewGraphSearch } from "./search.ts";
import "./new-graph.css";

/** A graph from a template and its values: no clone, no machine, and nothing runs until it is asked for. */
export function NewGraphPage() {
  const search = useSearch({ from: "/new" });
  const navigate = useNavigate({ from: "/new" });
  const { data: repositories } = useSuspenseQuery(repositoriesQuery);
  // A link may name it as people do.
  const named = repositories.find(({ name }) => name === search.repository);
  const repository = named?.url ?? search.repository ?? repositories[0]?.url;
  const chosen: NewGraphSearch = {
    ...search,
    ...(repository === undefined ? {} : { repository }),
    rev: search.rev ?? "HEAD",
  };
  const preview = useQuery(previewQuery(chosen));
  const catalog = useQuery(catalogQuery(preview.data?.catalog));
  const submit = useMutation({
    // Exactly what was previewed: the definitions by their digest, at that commit.
    mutationFn: (id: string) =>
      tell(SubmittedGraph, "/graphs", {
        ...choiceOf(chosen),
        id,
        ...(chosen.set === undefined ? {} : { set: chosen.set }),
        catalog: preview.data?.catalog,
        rev: preview.data?.commit ?? chosen.rev,
        branch: preview.data?.branch === "" ? undefined : preview.data?.branch,
      }),
    onSuccess: ({ id }) => navigate({ to: "/graphs/$id", params: { id } }),
  });
  usePageTitle("New graph");
  const change = (next: NewGraphSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });

  const problem = submit.error ?? preview.error;
  return (
    <div className="page">
      <h1>New graph</h1>
      <div className="new-graph">
        <ChoiceForm
          repositories={repositories}
          chosen={chosen}
          holes={holesOf(catalog.data)}
          resolved={preview.data}
          onChange={change}
        />
        <section aria-label="Preview" aria-live="polite" aria-busy={preview.isFetching}>
          {problem === null ? null : (
            <p role="alert" className="problem">
              {problem.message}
            </p>
          )}
          {preview.data === undefined || preview.error !== null ? null : (
            <>
              <Preview preview={preview.data} />
              <button
                type="button"
                className="primary"
                disabled={preview.isFetching || submit.isPending || preview.data.commit === null}
                onClick={() => submit.mutate(newId())}
              >
                {submit.isPending ? "Submitting…" : "Submit exactly this"}
              </button>
            </>
          )}
          {repository === undefined ? (
            <p className="faint">No repository is known yet; submit a first graph by command.</p>
          ) : null}
        </section>
      </div>
    </div>
  );
}
