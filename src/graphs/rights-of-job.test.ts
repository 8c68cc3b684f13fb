import { expect, test } from "vitest";
import { CommitSha } from "#core/commit-sha.ts";
import { rightsIn, rightsText } from "#core/job-rights.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import { GraphId } from "./graph-id.ts";
import { rightsOfJob } from "./rights-of-job.ts";

const job = {
  graphId: GraphId.parse("00000000-0000-4000-8000-000000000001"),
  job: "publish",
  repository: "acme/app",
  branch: "main",
  commit: CommitSha.parse("a".repeat(40)),
  submittedBy: "ada",
  domain: TrustDomain.parse("protected"),
};

test("a job has the rights that its definition requests, and no others", () => {
  expect(rightsOfJob({ ...job, definition: {} })).toBeUndefined();
  expect(rightsOfJob({ ...job, definition: { caches: false } })).toBeUndefined();
  expect(rightsOfJob({ ...job, definition: { caches: true } })).toEqual({ caches: "acme/app" });
  expect(rightsOfJob({ ...job, definition: { identity: ["npm"] } })).toEqual({
    identity: {
      audiences: ["npm"],
      repository: "acme/app",
      ref: "refs/heads/main",
      sha: job.commit,
      graph: job.graphId,
      job: "publish",
      submittedBy: "ada",
    },
  });
});

test.each(["pr/7@acme/app", "user/ada"])("a run in %s has caches, and no identity", (domain) => {
  const place = { ...job, domain: TrustDomain.parse(domain) };

  expect(rightsOfJob({ ...place, definition: { caches: true } })).toEqual({ caches: "acme/app" });
  expect(() => rightsOfJob({ ...place, definition: { identity: ["npm"] } })).toThrow(
    "only runs in protected domains",
  );
});

test("rights are written and read as one text, and no other text gives any", () => {
  const rights = rightsOfJob({ ...job, definition: { caches: true, identity: ["a", "b"] } }) ?? {};

  expect(rightsIn(rightsText(rights))).toEqual(rights);
  for (const text of ["", "caches npm", "[]", '{"caches":1}', '{"identity":{"audiences":[]}}']) {
    expect(rightsIn(text)).toBeUndefined();
  }
});
