/**
 * The checks of {@code caravan doctor}, which concern the machine, its disk, and the directories and files that the
 * settings name.
 */
@NullMarked
package io.caravan.server.cli.doctor;

import org.jspecify.annotations.NullMarked;
