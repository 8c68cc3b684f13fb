import { createHash } from "node:crypto";
import type { AccessSetting } from "#core/access-setting.ts";
import { defaultProject } from "#core/default-project.ts";
import { problemOfProjectName } from "#core/project-name.ts";

/**
 * Returns the project of a new repository. On a private farm it is a project of the repository's own name, so that who
 * reads one repository cannot open the blobs of another by their digests.
 *
 * A name that no project may have, and that of the default project, which others use, are replaced by a hash.
 */
export function projectOfNewRepository(setting: AccessSetting, repository: string): string {
  switch (setting) {
    case "open":
    case "public":
      return defaultProject;
    case "private": {
      const isFree = repository !== defaultProject;
      if (isFree && problemOfProjectName(repository) === undefined) return repository;
      const hash = createHash("sha256").update(repository).digest("hex");
      return `repository-${hash.slice(0, 32)}`;
    }
  }
}
