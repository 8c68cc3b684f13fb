import { messageOf } from "#core/fault.ts";
import { readDefinitions } from "#definitions/read-definitions.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import {
  checkoutRoot,
  commitFacts,
  commitOf,
  definitionTexts,
  hasDefinitions,
  ownershipRefusal,
  uncommittedChanges,
} from "../checkout.ts";
import { type Check, type Finding, fail, ok, warn } from "./check.ts";

/** Checks the repository of the user's directory, as `grange up` would see it. */
export function repositoryChecks(directory: string): Check[] {
  return [
    {
      name: "repository",
      needs: "The current directory is in a Git repository of this user",
      fix: "Change to one, or name one with --repo",
      run: () => repository(directory),
    },
    {
      name: "commit",
      needs: "The repository has a commit",
      fix: "A farm runs commits. Create one: git add -A && git commit -m first",
      run: () => inCheckout(directory, commit),
    },
    {
      name: "definitions",
      needs: "The commit has definitions without errors",
      fix: "Create definitions: grange init",
      run: () => inCheckout(directory, definitions),
    },
    {
      name: "changes",
      needs: "Information: how many files differ from the commit",
      fix: "A farm runs commits: commit the changes that it should run",
      run: () => inCheckout(directory, changes),
    },
  ];
}

async function repository(directory: string): Promise<Finding> {
  const refusal = await ownershipRefusal(directory);
  if (refusal !== undefined) {
    return fail(
      "git refuses to read it, because it belongs to another user",
      `Trust it: git config --global --add safe.directory ${directory}`,
    );
  }
  const root = await checkoutRoot(directory);
  return root === undefined ? warn(`${directory} is not in a Git repository`) : ok(root);
}

async function inCheckout(
  directory: string,
  look: (root: string) => Promise<Finding>,
): Promise<Finding> {
  const root = await checkoutRoot(directory);
  return root === undefined ? ok("there is no repository here") : await look(root);
}

async function commit(root: string): Promise<Finding> {
  const sha = await commitOf(root, "HEAD");
  return sha === undefined ? warn("there is no commit yet") : ok(sha);
}

async function definitions(root: string): Promise<Finding> {
  const sha = await commitOf(root, "HEAD");
  if (sha === undefined || !(await hasDefinitions(root, sha))) {
    return warn("the commit has no definitions");
  }
  const files = await definitionTexts(root, sha);
  const evaluator = new TemplateEvaluator();
  try {
    const context = { repository: root, rev: "HEAD", branch: "" };
    const facts = { sha, ...(await commitFacts(root, sha)) };
    const { jobs } = await readDefinitions(files, {}, { ...context, commit: facts }, evaluator);
    return ok(`${jobs.length} jobs, no problem found`);
  } catch (reason) {
    return fail(messageOf(reason), "Correct them; `grange submit` shows the file and line");
  } finally {
    await evaluator.stop();
  }
}

async function changes(root: string): Promise<Finding> {
  const count = await uncommittedChanges(root);
  return ok(count === 0 ? "everything is committed" : `${count} files differ from the commit`);
}
