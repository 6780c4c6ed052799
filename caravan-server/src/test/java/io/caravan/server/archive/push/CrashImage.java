package io.caravan.server.archive.push;

import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.testing.CrashStorage;

/**
 * What is left when the host dies at some step.
 *
 * @param disk what a power cut left
 * @param objects the archive
 * @param model what clients know
 * @param step what was just about to be done
 */
record CrashImage(CrashStorage disk, MemoryObjects objects, CrashModel model, String step) {}
