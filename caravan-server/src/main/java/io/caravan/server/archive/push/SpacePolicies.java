package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.PrunePolicies;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSettings;
import io.caravan.server.document.space.Spaces;
import java.time.Duration;

/**
 * The retention policies of a server's documents. Each setting of a document's space overrides the general policy.
 *
 * @param general the policy of documents whose space sets no other
 */
record SpacePolicies(Spaces spaces, PrunePolicy general) implements PrunePolicies {
    @Override
    public PrunePolicy of(DocumentName name) {
        Space space = spaces.find(name);
        return space == null ? general : of(space.settings());
    }

    private PrunePolicy of(SpaceSettings space) {
        return new PrunePolicy(
                number(space, SpaceSetting.ARCHIVE_KEEP, general.generations()),
                space.has(SpaceSetting.ARCHIVE_KEEP_DAYS)
                        ? Duration.ofDays(space.get(SpaceSetting.ARCHIVE_KEEP_DAYS))
                        : general.age(),
                number(space, SpaceSetting.ARCHIVE_KEEP_DAILY, general.days()),
                general.retain());
    }

    private static int number(SpaceSettings space, SpaceSetting setting, int otherwise) {
        return space.has(setting) ? Math.toIntExact(space.get(setting)) : otherwise;
    }
}
