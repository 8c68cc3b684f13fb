import type { Kind } from "../kind.ts";
import type { ProjectFiles } from "../repository-files.ts";

/** CMake projects, with their tests by CTest. */
export const cmake: Kind = {
  name: "cmake",
  mark: /^CMakeLists\.txt$/,
  group: "native",
  recognise(project) {
    const top = project.text("CMakeLists.txt") ?? "";
    // Without `project()` the file is a part of another project.
    if (!/^\s*project\s*\(/im.test(top)) return undefined;
    const texts = cmakeTexts(project);
    const hasTests = texts.some((text) => /\benable_testing\s*\(|include\s*\(\s*CTest/i.test(text));
    const downloads = texts.some((text) =>
      /FetchContent_|ExternalProject_Add|CPMAddPackage|file\s*\(\s*DOWNLOAD/i.test(text),
    );
    const directory = project.hasDirectory("build") ? "cmake-build" : "build";
    return {
      found: `CMakeLists.txt${hasTests ? " with tests" : ""}`,
      jobs: [
        {
          name: "cmake",
          comment: "One job: a CMake build directory is not meant to be moved or to be merged.",
          commands: [
            `cmake -S . -B ${directory}`,
            `cmake --build ${directory} --parallel`,
            ...(hasTests ? [`ctest --test-dir ${directory} --output-on-failure`] : []),
          ],
          network: downloads,
        },
      ],
      tools: [
        { program: "cmake", package: "cmake" },
        { program: "make", package: "make" },
        { program: "c++", package: "g++" },
      ],
    };
  },
};

function cmakeTexts(project: ProjectFiles): string[] {
  return [...project.paths]
    .filter((path) => /(^|\/)CMakeLists\.txt$|\.cmake$/.test(path))
    .flatMap((path) => project.text(path) ?? []);
}
