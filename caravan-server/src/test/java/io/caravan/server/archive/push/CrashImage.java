package io.caravan.server.archive.push;

import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.testing.CrashStorage;

/**
 * The state after a crash of the host at some step.
 *
 * @param disk the state of the disk after a power failure
 * @param objects the archive
 * @param model the states that clients know
 * @param step the step before which the host crashed
 */
record CrashImage(CrashStorage disk, MemoryObjects objects, CrashModel model, String step) {}
