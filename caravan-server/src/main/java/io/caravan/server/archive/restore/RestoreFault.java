package io.caravan.server.archive.restore;

import io.caravan.catalog.DocumentName;
import org.jspecify.annotations.Nullable;

/**
 * A document of an archive that is not, or not in its latest generation, in the store that was restored.
 *
 * @param document its name, or null when the object that has it cannot be read
 * @param object key of the object that is at fault, or of the document's manifest
 * @param why what is wrong, for people
 * @param instead the older generation that was restored instead, or null when none was
 */
public record RestoreFault(
        @Nullable DocumentName document,
        String object,
        String why,
        @Nullable Restored instead) {}
