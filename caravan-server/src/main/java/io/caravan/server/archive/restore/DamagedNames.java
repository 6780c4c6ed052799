package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Documents that the archive could not give whole, for a while: the newest so many. Any number of threads. */
final class DamagedNames {
    private static final int MAX_NAMES = 1024;
    private static final long MEMORY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private record Damage(CaravanException problem, long sinceNanos) {}

    /** Oldest first. */
    private final Map<DocumentName, Damage> names = new LinkedHashMap<>();

    /** What was wrong with the document a moment ago, or null. */
    synchronized @Nullable CaravanException find(DocumentName name) {
        Damage damage = names.get(name);
        if (damage != null && System.nanoTime() - damage.sinceNanos() > MEMORY_NANOS) {
            names.remove(name);
            return null;
        }
        return damage == null ? null : damage.problem();
    }

    synchronized void add(DocumentName name, CaravanException problem) {
        names.remove(name);
        names.put(name, new Damage(problem, System.nanoTime()));
        if (names.size() > MAX_NAMES) {
            names.remove(names.keySet().iterator().next());
        }
    }
}
