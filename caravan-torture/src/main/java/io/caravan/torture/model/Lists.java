package io.caravan.torture.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Assigns each list of a run to the worker that owns it. */
public final class Lists {
    /** One in {@code FAR_EVERY} lists has an arbitrary long as its id; the others have small ids. */
    private static final int FAR_EVERY = 5;

    private static final long FAR_STEP = 0x9E3779B97F4A7C15L;

    private final List<List<Long>> idsByWorker = new ArrayList<>();
    private final Map<Long, Integer> owners = new HashMap<>();

    public Lists(int workers, int lists) {
        for (int worker = 0; worker < workers; worker++) {
            idsByWorker.add(new ArrayList<>());
        }
        for (int i = 0; i < lists; i++) {
            long id = i % FAR_EVERY == 0 ? i * FAR_STEP : i;
            idsByWorker.get(i % workers).add(id);
            owners.put(id, i % workers);
        }
    }

    public List<Long> of(int worker) {
        return idsByWorker.get(worker);
    }

    public int workers() {
        return idsByWorker.size();
    }

    public int count() {
        return owners.size();
    }

    public int owner(long id) {
        return Objects.requireNonNull(owners.get(id));
    }

    public boolean known(long id) {
        return owners.containsKey(id);
    }
}
