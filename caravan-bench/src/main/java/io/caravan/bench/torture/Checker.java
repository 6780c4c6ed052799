package io.caravan.bench.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Checks whether a store kept its guarantees. Every acknowledged change must be present, in order, with the right
 * bytes. Each change in flight must have taken effect completely or not at all. The store must contain nothing that was
 * never sent, and nothing that was read may have disappeared.
 */
final class Checker {
    private final Lists lists;
    private final boolean smallDisk;

    /**
     * Creates a checker.
     *
     * @param smallDisk whether appends may be rejected for lack of space
     */
    Checker(Lists lists, boolean smallDisk) {
        this.lists = lists;
        this.smallDisk = smallDisk;
    }

    /**
     * The result of a check.
     *
     * @param problems empty if the store kept its guarantees
     * @param kept number of intents that took effect without an acknowledgement
     */
    record Verdict(List<String> problems, long kept) {}

    /**
     * Checks the contents found against the earlier contents and everything recorded since then.
     *
     * @param model the earlier contents; updated to the current contents
     */
    Verdict check(StoreModel model, Ledger ledger, Contents found) {
        List<String> problems = new ArrayList<>(ledger.problems());
        checkRefusals(ledger, problems);
        List<Sightings> sightings = sightingsByOwner(ledger);
        long kept = 0;
        for (int worker = 0; worker < lists.workers(); worker++) {
            WorkerCheck check = new WorkerCheck(
                    lists.of(worker), model, ledger.worker(worker), ledger.closed(), sightings.get(worker), found);
            kept += check.run();
            problems.addAll(check.problems());
        }
        found.lists().keySet().stream()
                .filter(id -> !lists.known(id))
                .forEach(id -> problems.add("list " + id + " exists, but was never written"));
        return new Verdict(problems, kept);
    }

    private void checkRefusals(Ledger ledger, List<String> problems) {
        String words = ledger.firstRefusal();
        if (words == null) {
            return;
        }
        if (!smallDisk) {
            problems.add("a change was refused for lack of space, though there is enough: " + words);
        }
        if (!words.contains("space")) {
            problems.add("a change was refused for lack of space, but the message does not say so: " + words);
        }
    }

    private List<Sightings> sightingsByOwner(Ledger ledger) {
        List<Sightings> byOwner =
                Stream.generate(Sightings::new).limit(lists.workers()).toList();
        ledger.sightings()
                .forEach(sighting -> byOwner.get(lists.owner(sighting.id())).add(sighting));
        return byOwner;
    }
}
