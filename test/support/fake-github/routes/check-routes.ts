import { z } from "zod";
import { annotationAnswer, checkAnswer } from "../app-answers.ts";
import { type CheckState, record } from "../fake-state.ts";
import { bodyOf, type Call, Refusal, type Route, repositoryOf, slugOf } from "./route.ts";

const Annotation = z.object({
  path: z.string().min(1),
  start_line: z.number().int().min(1),
  end_line: z.number().int().min(1),
  annotation_level: z.enum(["notice", "warning", "failure"]),
  message: z.string().min(1).max(65_536),
});

const Update = z.object({
  name: z.string().min(1).optional(),
  external_id: z.string().optional(),
  details_url: z.url().optional(),
  status: z.enum(["queued", "in_progress", "completed"]).optional(),
  started_at: z.iso.datetime().optional(),
  completed_at: z.iso.datetime().optional(),
  conclusion: z
    .enum(["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"])
    .optional(),
  output: z
    .object({
      title: z.string().min(1).optional(),
      summary: z.string().min(1).max(65_535),
      // More in one request are refused.
      annotations: z.array(Annotation).max(50).optional(),
    })
    .optional(),
});
const Creation = Update.extend({ name: z.string().min(1), head_sha: z.string() });

function apply(check: CheckState, update: z.infer<typeof Update>): void {
  check.name = update.name ?? check.name;
  check.externalId = update.external_id ?? check.externalId;
  check.detailsUrl = update.details_url ?? check.detailsUrl;
  check.status = update.conclusion === undefined ? (update.status ?? check.status) : "completed";
  check.conclusion = update.conclusion ?? (check.status === "completed" ? check.conclusion : null);
  check.startedAt = update.started_at ?? check.startedAt;
  check.completedAt = update.completed_at ?? check.completedAt;
  check.title = update.output?.title ?? check.title;
  check.summary = update.output?.summary ?? check.summary;
  // As at GitHub: the annotations of an update are added to the existing ones.
  check.annotations.push(...(update.output?.annotations ?? []));
  if (check.status === "completed" && check.conclusion === null)
    throw new Refusal(422, "Invalid request.\n\nconclusion is missing");
}

function checkOf(call: Call): CheckState {
  const found = repositoryOf(call).checks.get(Number(call.parameters["check_run_id"]));
  if (found === undefined) throw new Refusal(404, "Not Found");
  return found;
}

function note(call: Call, what: "check created" | "check updated", check: CheckState): void {
  record(call.state, {
    what,
    repository: slugOf(repositoryOf(call)),
    pull: undefined,
    id: String(check.id),
    text: `${check.sha} ${check.name} ${check.externalId ?? ""} ${check.status} ${check.conclusion ?? ""}`,
  });
}

export const checkRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/repos/{owner}/{repo}/check-runs",
    by: "installation",
    needs: ["checks", "write"],
    handle(call) {
      const repository = repositoryOf(call);
      const asked = bodyOf(Creation, call);
      if (repository.git?.has(asked.head_sha) !== true)
        throw new Refusal(422, `No commit found for SHA: ${asked.head_sha}`);
      const check: CheckState = {
        id: call.state.nextId(),
        sha: asked.head_sha,
        name: asked.name,
        externalId: null,
        detailsUrl: null,
        status: "queued",
        conclusion: null,
        startedAt: null,
        completedAt: null,
        title: null,
        summary: null,
        annotations: [],
      };
      apply(check, asked);
      repository.checks.set(check.id, check);
      note(call, "check created", check);
      return { status: 201, body: checkAnswer(call.state, repository, check) };
    },
  },
  {
    method: "PATCH",
    path: "/repos/{owner}/{repo}/check-runs/{check_run_id}",
    by: "installation",
    needs: ["checks", "write"],
    handle(call) {
      const check = checkOf(call);
      apply(check, bodyOf(Update, call));
      note(call, "check updated", check);
      return { status: 200, body: checkAnswer(call.state, repositoryOf(call), check) };
    },
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations",
    by: "installation",
    needs: ["checks", "read"],
    handle: (call) => ({
      status: 200,
      list: checkOf(call).annotations.map(
        (one) => () => annotationAnswer(call.state, repositoryOf(call), one),
      ),
    }),
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/commits/{ref}/check-runs",
    by: "installation",
    needs: ["checks", "read"],
    handle(call) {
      const repository = repositoryOf(call);
      const app = call.query.get("app_id");
      const ofCommit = [...repository.checks.values()].filter(
        (check) =>
          check.sha === call.parameters["ref"] &&
          (app === null || app === String(call.state.appId)),
      );
      // `latest`, GitHub's default, returns the newest of each name.
      const kept =
        call.query.get("filter") === "all"
          ? ofCommit
          : [...new Map(ofCommit.map((check) => [check.name, check])).values()];
      return {
        status: 200,
        under: "check_runs",
        list: kept.map((check) => () => checkAnswer(call.state, repository, check)),
      };
    },
  },
];
