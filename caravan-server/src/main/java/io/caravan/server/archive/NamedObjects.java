package io.caravan.server.archive;

import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Listed;
import java.util.ArrayList;
import java.util.List;

/**
 * The objects that a list told of one document's name.
 *
 * @param form the name as it is in keys
 * @param manifest whether there was a manifest
 * @param snapshots what was in its folder, by rising key
 */
record NamedObjects(String form, boolean manifest, List<Listed> snapshots) {

    /** What there is of a name now. */
    static NamedObjects list(ObjectStore objects, String form) {
        List<Listed> snapshots = new ArrayList<>();
        objects.list(ArchiveKeys.SNAPSHOTS + form + "/", "", snapshots::add);
        return new NamedObjects(form, true, snapshots);
    }

    String manifestKey() {
        return ArchiveKeys.MANIFESTS + form;
    }
}
