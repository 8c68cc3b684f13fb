import type { CheckAnnotation, CheckRun } from "../check-run.ts";
import type { ForgeChecks } from "../forge.ts";
import { annotationsAtOnce, checkBody, missingAnnotations } from "./check-body.ts";
import { Annotation, Anything, CheckRunAnswer } from "./github-answers.ts";
import type { GitHubAsker } from "./github-asker.ts";
import { type GitHubClient, placeOf } from "./github-client.ts";

/** Check runs: found by their external id and written completely, with fifty annotations per request. */
export function writeChecks(client: GitHubClient): ForgeChecks {
  const patch = (as: GitHubAsker, slug: string, id: string, body: object) =>
    as.write(Anything, "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", {
      ...placeOf(slug),
      check_run_id: id,
      ...body,
    });
  const addRest = async (
    as: GitHubAsker,
    slug: string,
    id: string,
    check: CheckRun,
    rest: readonly CheckAnnotation[],
  ) => {
    for (let at = 0; at < rest.length; at += annotationsAtOnce)
      await patch(as, slug, id, checkBody(check, rest.slice(at, at + annotationsAtOnce)));
  };

  return {
    list: (slug, sha) =>
      client.within(slug, async (as) => {
        const { id: app } = await client.identity();
        const runs = await as.list(
          CheckRunAnswer,
          "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
          // The default `latest` would hide the older of two that were created by mistake.
          { ...placeOf(slug), ref: sha, filter: "all", app_id: app },
          { under: "check_runs" },
        );
        return runs.map((run) => ({ id: run.id, externalId: run.external_id ?? "" }));
      }),

    create: (slug, check) =>
      client.within(slug, async (as) => {
        const { id } = await as.write(CheckRunAnswer, "POST /repos/{owner}/{repo}/check-runs", {
          ...placeOf(slug),
          head_sha: check.sha,
          ...checkBody(check, check.annotations.slice(0, annotationsAtOnce)),
        });
        await addRest(as, slug, id, check, check.annotations.slice(annotationsAtOnce));
        return id;
      }),

    update: (slug, id, check) =>
      client.within(slug, async (as) => {
        const known =
          check.annotations.length === 0
            ? []
            : await as.list(
                Annotation,
                "GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations",
                { ...placeOf(slug), check_run_id: id },
              );
        const missing = missingAnnotations(check.annotations, known);
        await patch(as, slug, id, checkBody(check, missing.slice(0, annotationsAtOnce)));
        await addRest(as, slug, id, check, missing.slice(annotationsAtOnce));
      }),
  };
}
