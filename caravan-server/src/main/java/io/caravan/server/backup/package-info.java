/** Backups of the store: one copy at a time, in subdirectories of the backup directory. */
@NullMarked
package io.caravan.server.backup;

import org.jspecify.annotations.NullMarked;
