/**
 * Keeps the archive of a running server up to date. {@link io.caravan.server.archive.push.Archiver} assembles the
 * parts. A document goes through these steps:
 *
 * <ol>
 *   <li>{@link io.caravan.server.archive.push.DirtyScanner} scans all documents within four fifths of the maximum age
 *   of a change and adds those that have changed to the {@link io.caravan.server.archive.push.ArchiveSchedule};
 *   <li>a worker takes the document, and {@link io.caravan.server.archive.push.DocumentUploader} puts the document, or
 *   its tombstone if it was deleted, into the archive;
 *   <li>{@link io.caravan.server.archive.push.Failure} classifies a failure: if the archive cannot be reached, all jobs
 *   wait for one {@link io.caravan.server.archive.push.BackOff}. A document that cannot be archived is retried once,
 *   then waits for the next round;
 *   <li>{@link io.caravan.server.archive.push.Ownership}, which has taken ownership of the archive before these steps,
 *   keeps checking that no other server has claimed it.
 * </ol>
 *
 * <p>The {@code ArchiveSchedule} also tracks the backlog, with an {@link io.caravan.server.archive.push.ArchiveSlot}
 * for each stripe. {@link io.caravan.server.archive.push.ArchiveCounters} counts successes and failures.
 */
@NullMarked
package io.caravan.server.archive.push;

import org.jspecify.annotations.NullMarked;
