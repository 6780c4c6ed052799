package io.caravan.server.archive.restore;

import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentException.Reason;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** Which generations a manifest has, for those who choose and for people. */
final class Generations {
    /** Those that a message names; older ones are counted. */
    private static final int DESCRIBED = 10;

    private Generations() {}

    /**
     * The generation of this number, or the latest one.
     *
     * @throws DocumentException {@code NOT_FOUND} with those that there are
     */
    static Generation choose(Manifest manifest, OptionalLong number) {
        Generation chosen = number.isEmpty()
                ? manifest.latest()
                : manifest.generations().stream()
                        .filter(generation -> generation.number() == number.getAsLong())
                        .findFirst()
                        .orElse(null);
        if (chosen == null) {
            String what = number.isEmpty() ? "no generation" : "no generation " + number.getAsLong();
            throw new DocumentException(
                    Reason.NOT_FOUND, manifest.name(), "has " + what + " in the archive; " + describe(manifest));
        }
        return chosen;
    }

    /** Says which there are, newest first. */
    static String describe(Manifest manifest) {
        List<Generation> all = manifest.generations();
        if (all.isEmpty()) {
            return "the archive keeps none of its generations any more";
        }
        List<String> newest = all.subList(Math.max(0, all.size() - DESCRIBED), all.size()).stream()
                .map(Generations::describe)
                .collect(Collectors.toList());
        Collections.reverse(newest);
        String more = all.size() > DESCRIBED ? ", and " + (all.size() - DESCRIBED) + " older ones" : "";
        return "the archive keeps " + String.join(", ", newest) + more;
    }

    private static String describe(Generation generation) {
        return "generation " + generation.number() + " (sequences " + generation.firstSequence() + " to "
                + generation.nextSequence() + ", of " + Instant.ofEpochMilli(generation.takenAtMillis()) + ")";
    }
}
