import { join } from "node:path";
import type { Need } from "./needs.ts";
import { findProgram } from "./program.ts";

/** What `scripts/build-tools/install-maven.sh` installed. */
interface MavenInstallation {
  readonly program: string;
  /** The local repository, with all plugins. */
  readonly repository: string;
}

const directory = process.env["GRANGE_TEST_MAVEN"];

/** Undefined without `GRANGE_TEST_MAVEN`. */
export const mavenInstallation: MavenInstallation | undefined =
  directory === undefined
    ? undefined
    : {
        program: join(directory, "apache-maven-3.9.9/bin/mvn"),
        repository: join(directory, "repository"),
      };

/** A Maven that knows the build cache extension. Debian 12 has an older one. */
export const mavenNeed: Need = {
  name: "Maven 3.9 with its build cache extension",
  missing:
    mavenInstallation === undefined
      ? "GRANGE_TEST_MAVEN names no directory of scripts/build-tools/install-maven.sh"
      : findProgram("javac") === undefined
        ? "not installed: javac"
        : undefined,
  remedy: { kind: "command", command: "scripts/build-tools/install-maven.sh DIRECTORY" },
};
