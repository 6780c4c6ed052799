/** What {@code caravan doctor} looks at: the machine, its disk, and the folders and files that the settings name. */
@NullMarked
package io.caravan.server.cli.doctor;

import org.jspecify.annotations.NullMarked;
