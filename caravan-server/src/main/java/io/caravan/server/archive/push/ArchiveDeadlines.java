package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.Spaces;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The maximum age of a change that is not archived: the limit of the document's space, otherwise the server's. */
final class ArchiveDeadlines {
    private final Spaces spaces;
    private final Duration server;

    ArchiveDeadlines(Spaces spaces, Duration server) {
        this.spaces = spaces;
        this.server = server;
    }

    /** Returns the maximum age of a change of this document, in milliseconds. */
    long afterMillis(DocumentName name) {
        Space space = spaces.find(name);
        long seconds = space == null ? 0 : space.settings().get(SpaceSetting.ARCHIVE_AFTER);
        return seconds == 0 ? server.toMillis() : TimeUnit.SECONDS.toMillis(seconds);
    }

    /** Returns the maximum duration of a round through all documents, so that no change gets too old. */
    Duration round() {
        Duration shortest = spaces.all().stream()
                .mapToLong(space -> space.settings().get(SpaceSetting.ARCHIVE_AFTER))
                .filter(seconds -> seconds > 0)
                .mapToObj(Duration::ofSeconds)
                .filter(after -> after.compareTo(server) < 0)
                .min(Duration::compareTo)
                .orElse(server);
        return shortest.multipliedBy(4).dividedBy(5);
    }
}
