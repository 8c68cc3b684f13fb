import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { readSettings, sizeClassSettingsChannel } from "./settings.store.ts";
import { defaultSettings, type SizeClassSettings } from "./settings.ts";

/** The farm's settings, as one server knows them. */
interface SettingsView extends Service {
  current(): SizeClassSettings;
}

/** Keeps the settings in memory, and reads them again when any server has changed them. */
export async function settingsView(db: Db, logger: Logger): Promise<SettingsView> {
  let current = defaultSettings;
  let reading = Promise.resolve();
  const read = async () => {
    try {
      current = (await readSettings(db)).settings;
    } catch (reason) {
      logger.warn(
        { reason: messageOf(reason) },
        "the settings of size classes cannot be read; the last known ones are used",
      );
    }
  };
  // One after the other, so that the last request takes effect.
  const listener = await db.listen(sizeClassSettingsChannel, () => {
    reading = reading.then(read);
  });
  await read();
  return {
    current: () => current,
    async stop() {
      await listener.stop();
      await reading;
    },
  };
}
