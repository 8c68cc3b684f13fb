// `npm run image`: builds a container image of Grange. `--help` lists the options.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { parseImageReference } from "#images/image-reference.ts";
import { parseRegistries, readCredentials } from "#images/registry-settings.ts";
import { buildImage } from "./build-image.ts";
import { pushImage } from "./push-image.ts";

interface Options {
  readonly name: string;
  readonly base?: string;
  readonly program: readonly string[];
  readonly output?: string;
  readonly push?: boolean;
  readonly registries: string;
  readonly auth?: string;
}

const repeated = (value: string, earlier: readonly string[]) => [...earlier, value];

await new Command("npm run image --")
  .description(
    "Builds a container image of Grange, without Docker. Equal sources give equal images.",
  )
  .option("--name <image>", "the name of the image", "grange:latest")
  .option(
    "--base <image>",
    "an image with Node 20.19 or later and Git, as NAME@sha256:…; default: the programs of this machine",
  )
  .option("--program <name>", "a further program of this machine; may be repeated", repeated, [])
  .option("--output <file>", "write an archive for `docker load`, `podman load` or skopeo")
  .option("--push", "send the image to the registry in its name")
  .option(
    "--registries <list>",
    "registries without TLS, or with mirrors: http://localhost:5000",
    "",
  )
  .option("--auth <file>", "credentials of registries, as `docker login` writes them")
  .action(async (options: Options) => {
    const reference = parseImageReference(options.name);
    const registries = parseRegistries(options.registries);
    const credentials = options.auth === undefined ? new Map() : readCredentials(options.auth);
    const scratch = await mkdtemp(join(tmpdir(), "grange-image-"));
    try {
      const { layout, manifest, blobs, created } = await buildImage({
        checkout: join(import.meta.dirname, "..", ".."),
        directory: join(scratch, "image"),
        name: options.name,
        base: options.base,
        programs: options.program,
        registries,
        credentials,
      });
      if (options.output !== undefined)
        await layout.writeArchive(options.output, [manifest, ...blobs], created);
      if (options.push === true) {
        const known = registries.find(({ host }) => host === reference.registry);
        const origin = known?.origins.at(-1) ?? `https://${reference.registry}`;
        await pushImage(layout, manifest, blobs, { origin, reference, credentials });
      }
      const bytes = blobs.reduce((sum, { size }) => sum + size, 0);
      console.log(
        JSON.stringify({
          name: options.name,
          digest: manifest.digest,
          bytes,
          output: options.output,
        }),
      );
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  })
  .parseAsync();
