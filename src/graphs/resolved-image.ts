import type { TrustDomain } from "#core/trust-domain.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";

/** Who wants an image: the login at its registry depends on this. */
export interface ImageAsker {
  readonly project: string;
  readonly domain: TrustDomain;
}

/** Replaces the tag of a container image by the digest that it has now. */
export type ResolveImage = (image: string, asker: ImageAsker) => Promise<string>;

/** The images of a definition, as it names them, with what is used in their place. */
export type ResolvedImages = Readonly<Record<string, string>>;

/**
 * Returns what the farm uses in place of the images of a definition: with digests, if it resolves tags. A digest is part
 * of the action: a result is found again only while the tag names the same image.
 */
export async function resolveImages(
  resolveImage: ResolveImage | undefined,
  definition: JobDefinition,
  { project, domain }: ImageAsker,
): Promise<ResolvedImages> {
  if (resolveImage === undefined) return {};
  const pairs = imagesOf(definition).map(
    async (image): Promise<[string, string]> => [
      image,
      await resolveImage(image, { project, domain }),
    ],
  );
  return Object.fromEntries(await Promise.all(pairs));
}

export function withImages(definition: JobDefinition, images: ResolvedImages): JobDefinition {
  const { image, services } = definition;
  const resolved = (name: string) => (Object.hasOwn(images, name) ? images[name] : name) ?? name;
  return {
    ...definition,
    ...(image === undefined ? {} : { image: resolved(image) }),
    ...(services === undefined
      ? {}
      : {
          services: Object.fromEntries(
            Object.entries(services).map(([name, service]) => [
              name,
              { ...service, image: resolved(service.image) },
            ]),
          ),
        }),
  };
}

/** Whether an image of a job may be another one tomorrow. */
export function hasMovableImage(definition: JobDefinition): boolean {
  return imagesOf(definition).some((image) => !image.includes("@"));
}

function imagesOf({ image, services = {} }: JobDefinition): string[] {
  const all = [
    ...(image === undefined ? [] : [image]),
    ...Object.values(services).map((service) => service.image),
  ];
  return [...new Set(all)];
}
