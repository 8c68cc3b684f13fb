import { signedText } from "#core/signed-text.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { publicHalf, readKeyFile, signatureOf } from "../keys/key-file.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";

interface SignOptions extends CommonOptions {
  readonly key: string;
}

export const describeSign: Describe = (command) => {
  speaksToServer(command)
    .argument("<catalog>", "the digest of a catalog, or a unique prefix of it")
    .requiredOption("--key <file>", "the private key from `grange key create`")
    .action((written: string, options: SignOptions) =>
      inSession(options, async (session) => {
        const { keyEndpoints } = await import("#api/endpoints/key-endpoints.ts");
        const key = await readKeyFile(options.key);
        const { catalog, signedDigest } = await session.api.call(keyEndpoints.catalogSignatures, {
          query: { catalog: written },
        });
        const signed = await session.api.call(keyEndpoints.signCatalog, {
          body: {
            catalog,
            publicKey: publicHalf(key),
            signature: signatureOf(signedText("catalog", signedDigest), key),
          },
        });
        return answer(session, options, signed, () => [
          `Catalog ${catalog} is signed by ${signed.signers.map(({ name }) => name).join(", ")}.`,
        ]);
      }),
    );
  withExamples(command, [
    [
      "sign the catalog whose digest (or a prefix of it) a refusal has named",
      "sign 9f86d081884c --key release-2026.key",
    ],
  ]);
};
