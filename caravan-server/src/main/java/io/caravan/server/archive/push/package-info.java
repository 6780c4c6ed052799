/**
 * How a running server keeps its archive up to date. {@link io.caravan.server.archive.push.Archiver} puts it together;
 * a document's way:
 *
 * <ol>
 *   <li>{@link io.caravan.server.archive.push.Walker} goes through all documents within four fifths of the greatest age
 *   and hands those that have changed to the {@link io.caravan.server.archive.push.JobQueue};
 *   <li>a {@link io.caravan.server.archive.push.Worker} takes the document and has {@link
 *       io.caravan.server.archive.push.DocumentPush} put it into the archive, and {@link
 *       io.caravan.server.archive.push.DeletionPush} what was deleted;
 *   <li>what fails is weighed by {@link io.caravan.server.archive.push.Failure}: an archive that cannot be reached has
 *   all wait, by one {@link io.caravan.server.archive.push.BackOff}; a document that cannot be archived is tried once
 *   more after a while, and then waits for the next round alone;
 *   <li>{@link io.caravan.server.archive.push.Ownership} has taken the archive over before, and looks again and again
 *       whether another server has.
 * </ol>
 *
 * <p>{@link io.caravan.server.archive.push.Survey} and {@link io.caravan.server.archive.push.ArchiveCounts} know how
 * far it is.
 */
@NullMarked
package io.caravan.server.archive.push;

import org.jspecify.annotations.NullMarked;
