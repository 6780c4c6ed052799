/**
 * Torture of a Raft group ({@link io.caravan.torture.group.GroupTorture}), which has its own harness because in a group,
 * other changes may follow a change whose outcome is unknown. {@link io.caravan.torture.group.ListHistory} therefore
 * keeps all possible contents of a list. Each {@link io.caravan.torture.group.GroupNodeProcess} is a process that makes
 * the changes requested by {@link io.caravan.torture.group.GroupWriter}s.
 */
@NullMarked
package io.caravan.torture.group;

import org.jspecify.annotations.NullMarked;
