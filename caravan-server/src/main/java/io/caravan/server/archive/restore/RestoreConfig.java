package io.caravan.server.archive.restore;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What a server with an archive restores by itself.
 *
 * @param hydrate whether documents that the store lacks are fetched when they are first asked for
 * @param drillEvery time between two drills, zero for none
 * @param drillSample documents that a drill restores
 * @param data the store's directory
 * @param maxValueBytes greatest length of a value in the store
 */
public record RestoreConfig(boolean hydrate, Duration drillEvery, int drillSample, Path data, int maxValueBytes) {
    /** Nothing. */
    public static final RestoreConfig NOTHING = new RestoreConfig(false, Duration.ZERO, 0, Path.of("."), 1);
}
