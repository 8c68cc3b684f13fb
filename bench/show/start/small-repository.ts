import {
  type SampleRepository,
  sampleRepository,
} from "../../../test/support/sample-repository.ts";

/** A user's small repository: four short jobs that only need a shell. */
export function smallRepository(): Promise<SampleRepository> {
  return sampleRepository({
    ".grange/farm.yml": [
      "version: 1",
      "jobs:",
      "  lint: { inputs: [src], commands: '! grep TODO src/*' }",
      "  build:",
      "    inputs: [src]",
      "    commands: 'mkdir out && cat src/* > out/program'",
      "    outputs: [out]",
      "  test: { needs: [build], inputs: [src], commands: 'grep -q hello out/program' }",
      "  pack: { needs: [build, test], inputs: [README], commands: 'cat README out/program' }",
      "",
    ].join("\n"),
    README: "A small program.\n",
    "src/hello": "echo hello\n",
    "src/bye": "echo bye\n",
  });
}
