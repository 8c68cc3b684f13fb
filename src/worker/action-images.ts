import { Fault } from "#core/fault.ts";
import { untilAborted } from "#core/until-aborted.ts";
import type { ActionRequest } from "./action-request.ts";
import type { Clearing } from "./execution-cleanups.ts";
import type { ImageToRun } from "./image/oci/open-images.ts";
import type { Machine } from "./machine.ts";
import { quoteForShell } from "./quote-for-shell.ts";
import { openLoopback } from "./sandbox/namespaces/loopback-program.ts";
import { type OpenServices, openServices } from "./services/open-services.ts";

/** An execution that needs images. */
interface ImageUser {
  readonly request: ActionRequest;
  readonly stop: AbortSignal;
  /** Images stay on the machine until the execution is cleared. */
  readonly clearing: Clearing;
}

/** Opens the container images of actions and of the services beside them. */
export class ActionImages {
  readonly #machine: Machine;
  /** The PATH for commands without one. */
  readonly #path: string;
  /** The command that activates loopback in the network namespace of services. */
  #loopback: Promise<string> | undefined;

  constructor(machine: Machine, path: string) {
    this.#machine = machine;
    this.#path = path;
  }

  /** Returns the image of an action, pulled if it is not here; undefined for an action without one. */
  async imageOf(user: ImageUser): Promise<ImageToRun | undefined> {
    const { image } = user.request;
    return image === undefined ? undefined : this.#open(user, image);
  }

  /** Undefined for an action without services. */
  async servicesOf(user: ImageUser, scratch: string): Promise<OpenServices | undefined> {
    const { services, network, image } = user.request;
    if (services.length === 0) return undefined;
    const inImages = await Promise.all(
      services.map(async (service) => ({
        service,
        image: await this.#open(user, service.image),
      })),
    );
    const { sandbox, runDir, furtherUsers, shell } = this.#machine;
    this.#loopback ??= openLoopback(runDir);
    return openServices(inImages, {
      sandbox,
      loopback: await this.#loopback,
      path: this.#path,
      scratch,
      network,
      commandHasImage: image !== undefined,
      users: furtherUsers,
      changeOwner: (paths, uid, gid) =>
        shell.run(`chown -hR ${uid}:${gid} -- ${paths.map(quoteForShell).join(" ")}`),
    });
  }

  async #open({ request, stop, clearing }: ImageUser, name: string): Promise<ImageToRun> {
    const { images } = this.#machine;
    if (images === undefined)
      throw new Fault("failed_precondition", "this worker runs no container images");
    const opening = images.open(name, request.registryLogins);
    clearing.steps.push(async () =>
      opening.then(
        (image) => image.release(),
        () => {},
      ),
    );
    return untilAborted(opening, stop);
  }
}
