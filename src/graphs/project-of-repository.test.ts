import { expect, test } from "vitest";
import { problemOfProjectName } from "#core/project-name.ts";
import { projectOfNewRepository } from "./project-of-repository.ts";

test.each(["open", "public"] as const)(
  "on a farm that is %s, all use the default project",
  (setting) => {
    expect(projectOfNewRepository(setting, "team/web")).toBe("default");
  },
);

test("on a private farm, a repository has a project of its own name", () => {
  expect(projectOfNewRepository("private", "team/web")).toBe("team/web");
});

test.each(["default", "team/blobs", ".dotfiles", "a/../b", "x".repeat(200)])(
  "on a private farm, %s has a project with a legal name that nobody else has",
  (repository) => {
    const project = projectOfNewRepository("private", repository);

    expect(problemOfProjectName(project)).toBeUndefined();
    expect(project).not.toBe("default");
    expect(project).not.toBe(projectOfNewRepository("private", `${repository}-2`));
  },
);
