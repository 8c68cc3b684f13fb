import { expect, test } from "vitest";
import { parse } from "yaml";
import { starterFiles } from "./starter-files.ts";

test("a job in an image gets the proxy of this machine, and not the paths of its certificates", () => {
  const path = ".github/workflows/ci.yml";
  const text =
    "on: push\njobs: { a: { container: node, steps: [{ run: make }] }, b: { steps: [{ run: make }] } }\n";
  const variables = { SSL_CERT_FILE: "/etc/ssl/own.pem", HTTPS_PROXY: "http://proxy:3128" };

  const { files } = starterFiles(
    { paths: [path], texts: new Map([[path, text]]), submodules: [] },
    { source: "workflows", isInstalled: () => true, networkVariables: variables },
  );

  const { jobs } = parse(files.find(({ path }) => path.endsWith("workflows.yml"))?.text ?? "");
  expect(jobs["ci/a"].environment).toEqual({ HTTPS_PROXY: "http://proxy:3128", CI: "true" });
  expect(jobs["ci/b"].environment).toEqual({ ...variables, CI: "true" });
});
