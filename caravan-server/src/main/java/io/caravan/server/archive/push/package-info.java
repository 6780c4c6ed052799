/**
 * How a running server keeps its archive up to date. {@link io.caravan.server.archive.push.Archiver} puts it together.
 * A document goes through these steps:
 *
 * <ol>
 *   <li>{@link io.caravan.server.archive.push.Walker} goes through all documents within four fifths of the greatest age
 *   and hands those that have changed to the {@link io.caravan.server.archive.push.JobQueue};
 *   <li>a worker takes the document and has {@link io.caravan.server.archive.push.DocumentPush} put it into the
 *   archive, or its tombstone if it was deleted;
 *   <li>{@link io.caravan.server.archive.push.Failure} says what a failure means: if the archive cannot be reached, all
 *   wait for one {@link io.caravan.server.archive.push.BackOff}; a document that cannot be archived is tried once more
 *   after a while, and then alone waits for the next round;
 *   <li>{@link io.caravan.server.archive.push.Ownership} has taken the archive over before, and keeps checking that no
 *   other server has.
 * </ol>
 *
 * <p>{@link io.caravan.server.archive.push.Survey} knows how much is left to do, {@link
 * io.caravan.server.archive.push.Outcomes} what was done and what failed.
 */
@NullMarked
package io.caravan.server.archive.push;

import org.jspecify.annotations.NullMarked;
