import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { call } from "../../farm/ask.ts";
import { newId } from "../../parts/new-id.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { repositoriesQuery } from "../repositories/load.ts";
import { ChoiceForm } from "./choice-form.tsx";
import { holesOf } from "./holes-of.ts";
import { catalogQuery, previewQuery, submissionOf } from "./load.ts";
import { Preview } from "./preview.tsx";
import type { NewGraphSearch } from "./search.ts";
import "./new-graph.css";

/** The pause in typing before the farm is called. */
const settledAfterMs = 250;

/**
 * Creates a graph from a template and its values, without a clone and without a machine; nothing runs before the
 * submission.
 *
 * The page stores the typed text immediately. Address and preview follow after a pause in typing; an earlier click on
 * the button waits for the preview of the present text.
 */
export function NewGraphPage() {
  const search = useSearch({ from: "/new" });
  const navigate = useNavigate({ from: "/new" });
  const client = useQueryClient();
  const { data: repositories } = useSuspenseQuery(repositoriesQuery);
  const [first] = useState(search);
  const [written, setWritten] = useState(first);
  // A link may contain the repository's name in people's notation.
  const named = repositories.find(({ name }) => name === written.repository);
  const repository = named?.url ?? written.repository ?? repositories[0]?.url;
  const complete = (choice: NewGraphSearch): NewGraphSearch => ({
    ...choice,
    ...(repository === undefined ? {} : { repository }),
    rev: choice.rev ?? "HEAD",
  });
  const settled = useSettled(written, settledAfterMs);
  const preview = useQuery(previewQuery(complete(settled)));
  const catalog = useQuery(catalogQuery(preview.data?.catalog));
  const submit = useMutation({
    mutationFn: async (choice: NewGraphSearch) => {
      const query = previewQuery(choice);
      // The visible preview; or, for a click before the preview, the new one.
      const shown = client.getQueryData(query.queryKey) ?? (await client.fetchQuery(query));
      return call(graphEndpoints.submitGraph, { body: submissionOf(choice, shown, newId()) });
    },
    onSuccess: ({ id }) => navigate({ to: "/graphs/$id", params: { id } }),
  });
  // After a submission the page is leaving for the graph, and must not change the address back.
  const isLeaving = submit.isPending || submit.isSuccess;
  useEffect(() => {
    if (settled !== first && !isLeaving) void navigate({ search: settled, replace: true });
  }, [settled, first, isLeaving, navigate]);
  usePageTitle("New graph");
  const isSettled = settled === written && !preview.isFetching;

  const problem = submit.error ?? preview.error;
  return (
    <div className="page">
      <h1>New graph</h1>
      <div className="new-graph">
        <ChoiceForm
          repositories={repositories}
          chosen={complete(written)}
          holes={holesOf(catalog.data)}
          resolved={preview.data}
          onChange={(next) => {
            submit.reset();
            setWritten((now) => ({ ...now, ...next }));
          }}
        />
        <section aria-label="Preview" aria-live="polite" aria-busy={!isSettled}>
          {/* Above the changing part, so that it stays below the pointer. */}
          <p className="row">
            <button
              type="button"
              className="primary"
              disabled={repository === undefined || submit.isPending}
              onClick={() => submit.mutate(complete(written))}
            >
              {submit.isPending ? "Submitting…" : "Submit"}
            </button>
            {isSettled ? null : <span className="faint">loading the preview…</span>}
          </p>
          {problem === null ? null : (
            <p role="alert" className="problem">
              {problem.message}
            </p>
          )}
          {preview.data === undefined || preview.error !== null ? null : (
            <Preview preview={preview.data} />
          )}
          {repository === undefined ? (
            <p className="faint">
              The farm knows no repository yet. Submit a first graph from the command line.
            </p>
          ) : null}
        </section>
      </div>
    </div>
  );
}

/** Returns the value from the last time it was unchanged for `ms`, so that requests do not follow every key. */
function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
