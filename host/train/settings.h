/* settings.h - the one list of training settings. From it come train_config and its defaults, the options of `train`,
 * `eval` and `sweep`, recipe keys, the configuration in run.json, the resume fingerprint, journal columns, checkpoint
 * metadata and the converters of fathom.h. A new setting is one line here, and a member of nn_config (with its range in
 * nn_config_check) where a network reads it.
 *
 *   X(name, kind, member, owner, option, letter, argument, default, low, high, words, help, sweep_help)
 *
 *   name        in C and in JSON; fathom_train_options has a member of that name
 *   kind        INT (int64_t), REAL (double), CHOICE (an enum) or COUNTED (int64_t: a word, or the last one with a
 *               number)
 *   member      of train_config
 *   owner       who reads it: ANY network, GROUP_NORM, GCNII, GAT, SKIP and BIAS (GCN and GAT), SKIP_WEIGHT (where
 * there is a skip), NORM (where there is one), ACT (all but SGC) option      the command-line option and recipe key;
 * `letter` its short form or 0, `argument` its value in help default     VALUE(number), NAMED(word, enumerator), or
 * PRESET: not set (0 or NaN), the preset decides low, high   the range, both ends allowed words       CHOICE: "a|b|c"
 * in the order of the enum; COUNTED: as core/text.h reads them; REAL: a word that may replace the number; or NULL help
 * of `train`; `sweep_help` of `sweep`, NULL where a list spans the runs instead
 *
 * File formats fix their order of settings, so the list is in groups: each format names the groups in its order. */
#ifndef TRAIN_SETTINGS_H
#define TRAIN_SETTINGS_H

/* The presets, which set what is not given (defaults.c); their names as elements of an array, and as choices. */
#define TRAIN_PRESET_LIST(X) X(AUTHORS, authors) X(PAPER, paper) X(PYG, pyg)
#define TRAIN_PRESET_NAME(id, name) #name,
#define TRAIN_PRESET_CHOICE(id, name) "|" #name
#define TRAIN_PRESET_CHOICES (&(TRAIN_PRESET_LIST(TRAIN_PRESET_CHOICE))[1])

#define SETTINGS_NETWORK(X)                                                                                            \
    X(model, CHOICE, net.model, ANY, "model", 'm', NULL, NAMED(gcn, NN_GCN), 0, 0, NN_CONV_CHOICES, "the convolution", \
      NULL)                                                                                                            \
    X(norm, CHOICE, net.norm, ANY, "norm", 0, NULL, NAMED(group, NN_GROUP), 0, 0, NN_NORM_CHOICES,                     \
      "the normalisation", NULL)                                                                                       \
    X(layers, INT, net.layers, ANY, "layers", 'k', "K", VALUE(15), 1, NN_LAYERS_MAX, NULL, "depth", NULL)

#define SETTINGS_WIDTH(X)                                                                                              \
    X(hidden, INT, net.hidden, ANY, "hidden", 0, "D", VALUE(16), 1, NN_HIDDEN_MAX, NULL, "width of the hidden layers", \
      "width of the hidden layers")

/* lambda: given, it is nn_config.lambda, which nn/norm_group.c passes to group_apply and its backward. Unset,
 * defaults.c chooses it by preset, data, model and depth; auto, lambda_search.c on the validation set.
 * train_config.lambda_from records which. `eval` has an option of its own, which replaces the checkpoint's; in a recipe
 * it spans the runs. */
#define SETTINGS_GROUP_NORM(X)                                                                               \
    X(groups, INT, net.groups, GROUP_NORM, "groups", 0, "G", PRESET, 1, NN_GROUPS_MAX, NULL,                 \
      "groups of the group norm (default: the preset's)", NULL)                                              \
    X(lambda, REAL, net.lambda, GROUP_NORM, "lambda", 0, "X", PRESET, -NN_LAMBDA_MAX, NN_LAMBDA_MAX, "auto", \
      "weight of the group norm; auto: chosen on the validation set (default: the preset's)", NULL)

#define SETTINGS_DROPOUT(X) \
    X(dropout, REAL, net.dropout, ANY, "dropout", 0, "P", VALUE(0.6), 0, 0.999, NULL, "dropout rate", "dropout rate")

#define SETTINGS_ADAM(X)                                                                                  \
    X(lr, REAL, lr, ANY, "lr", 0, "X", PRESET, 1e-12, 1e3, NULL, "learning rate (default: the preset's)", \
      "learning rate, or preset")                                                                         \
    X(weight_decay, REAL, weight_decay, ANY, "weight-decay", 0, "X", PRESET, 0, 1e3, NULL,                \
      "L2 added to the gradients (default: the preset's)", "L2 added to the gradients, or preset")

/* How the learning rate moves (trainer.c), and the limit of the gradient's norm; 0: none. */
#define TRAIN_SCHEDULE_LIST(X) X(CONSTANT, constant) X(COSINE, cosine) X(PLATEAU, plateau)
#define TRAIN_SCHEDULE_NAME(id, name) #name,
#define TRAIN_SCHEDULE_CHOICE(id, name) "|" #name
#define TRAIN_SCHEDULE_CHOICES (&(TRAIN_SCHEDULE_LIST(TRAIN_SCHEDULE_CHOICE))[1])
#define SETTINGS_STEP(X)                                                                                        \
    X(lr_schedule, CHOICE, lr_schedule, ANY, "lr-schedule", 0, NULL, NAMED(constant, TRAIN_CONSTANT), 0, 0,     \
      TRAIN_SCHEDULE_CHOICES,                                                                                   \
      "cosine: falls to 0 over --epochs; plateau: halved after 50 epochs without a better validation accuracy", \
      "constant, cosine or plateau")                                                                            \
    X(clip, REAL, clip, ANY, "clip", 0, "NORM", VALUE(0), 0, 1e30, NULL,                                        \
      "the gradient is scaled down to this global norm; 0: never", "limit of the gradient's global norm; 0: none")

#define SETTINGS_LENGTH(X)                                                                                         \
    X(epochs, INT, epochs, ANY, "epochs", 'e', "N", PRESET, 1, 10000000, NULL, "number of epochs (default: 1000)", \
      "of every run, or preset")                                                                                   \
    X(patience, INT, patience, ANY, "patience", 0, "N", VALUE(0), 0, 10000000, NULL,                               \
      "stop after N epochs without a better validation accuracy; 0: never",                                        \
      "stop a run after N epochs without a better validation accuracy")

#define SETTINGS_EVALUATION(X)                                                                                        \
    X(eval_every, INT, eval_every, ANY, "eval-every", 0, "N", VALUE(1), 1, 10000000, NULL, "evaluate every N epochs", \
      NULL)

/* Results do not depend on it. */
#define SETTINGS_MEMORY(X)                                                                                             \
    X(recompute, COUNTED, net.recompute, ANY, "recompute", 0, "auto|none|norm|segments[:S]",                           \
      NAMED(auto, NN_RECOMPUTE_AUTO), 1, NN_LAYERS_MAX, NN_RECOMPUTE_CHOICES,                                          \
      "save memory by computing again, to the same bits: norm: what the norms put out; segments: all but the ends of " \
      "segments of S layers; auto: what the device's memory demands",                                                  \
      "activations to compute again, not to keep; see fathom train --help")

/* What is measured, without effect on the training: not in the fingerprint of a run. metrics auto: metrics_rows_for;
 * layer_metrics 0: never. */
#define SETTINGS_METRICS(X)                                                                                 \
    X(metrics, COUNTED, metrics, ANY, "metrics", 0, METRICS_ROWS_CHOICES, NAMED(auto, FATHOM_METRICS_AUTO), \
      METRICS_ROWS_MIN, METRICS_ROWS_MAX, METRICS_ROWS_CHOICES,                                             \
      "rows that metrics take against all rows; auto: all of 30,000 nodes, of more sampled:4000",           \
      "rows that metrics take against all rows, as of train")
#define SETTINGS_MEASURES(X)                                                                        \
    SETTINGS_METRICS(X)                                                                             \
    X(layer_metrics, INT, layer_metrics, ANY, "layer-metrics", 0, "N", VALUE(0), 0, 10000000, NULL, \
      "metrics of every layer every N epochs, in epochs.jsonl; 0: never", NULL)

/* The order of the nodes, which decides dropout masks: auto is resolved by data_order_choose. */
#define SETTINGS_ORDER(X)                                                                                  \
    X(order, CHOICE, order, ANY, "order", 0, NULL, NAMED(auto, DATA_ORDER_AUTO), 0, 0, DATA_ORDER_CHOICES, \
      "order of the nodes; auto: own on one device, metis or bisection on several", NULL)

#define SETTINGS_PRESET(X)                                                                                         \
    X(preset, CHOICE, preset, ANY, "preset", 0, "NAME", NAMED(authors, TRAIN_AUTHORS), 0, 0, TRAIN_PRESET_CHOICES, \
      "the defaults: see above", "authors, paper or pyg; see fathom train --help")

#define SETTINGS_GCNII(X)                                                                \
    X(alpha, REAL, net.alpha, GCNII, "alpha", 0, "A", VALUE(0.1), 0, NN_ALPHA_MAX, NULL, \
      "GCNII: share of the first layer", "GCNII: share of the first layer")              \
    X(theta, REAL, net.theta, GCNII, "theta", 0, "T", VALUE(0.5), 0, NN_THETA_MAX, NULL, \
      "GCNII: strength of the weights", "GCNII: strength of the weights")

/* Skip connections, nn/skip.c. What is unset, defaults.c chooses by depth: the weight, and lambda beside it. */
#define SETTINGS_SKIP(X)                                                                                           \
    X(skip, CHOICE, net.skip, SKIP, "skip", 0, NULL, NAMED(none, NN_SKIP_NONE), 0, 0, NN_SKIP_CHOICES,             \
      "GCN, GAT: what each layer adds: the layer before it, or the first", "GCN, GAT: none, residual, initial")    \
    X(skip_weight, REAL, net.skip_weight, SKIP_WEIGHT, "skip-weight", 0, "A", PRESET, 0, NN_SKIP_WEIGHT_MAX, NULL, \
      "its share: H = (1 - A) act(norm(Z)) + A H' (default: by depth)", "share of the skip connection, or preset")

/* DropEdge, nn/drop_edge.c. In a recipe it spans the runs. */
#define SETTINGS_DROP_EDGE(X)                                                             \
    X(drop_edge, REAL, net.drop_edge, ANY, "drop-edge", 0, "P", VALUE(0), 0, 0.999, NULL, \
      "GCN, SGC, GCNII: share of the edges that every epoch leaves out of its graph", NULL)

/* Of the modules of PyTorch Geometric: its GCN and GAT have a bias, and neither norm nor ReLU after the last layer. */
#define SETTINGS_MODULES(X)                                                                                    \
    X(bias, CHOICE, net.bias, BIAS, "bias", 0, NULL, NAMED(off, NN_OFF), 0, 0, NN_SWITCH_CHOICES,              \
      "GCN, GAT: a bias in every layer", "GCN, GAT: off or on")                                                \
    X(heads, INT, net.heads, GAT, "heads", 0, "N", VALUE(1), 1, NN_HEADS_MAX, NULL,                            \
      "GAT: heads, side by side in the hidden columns, averaged in the last layer", "GAT: heads of attention") \
    X(last_norm, CHOICE, net.last_norm, NORM, "last-norm", 0, NULL, NAMED(on, NN_ON), 0, 0, NN_SWITCH_CHOICES, \
      "the norm after the last layer", "the norm after the last layer: on or off")                             \
    X(last_act, CHOICE, net.last_act, ACT, "last-act", 0, NULL, NAMED(on, NN_ON), 0, 0, NN_SWITCH_CHOICES,     \
      "the ReLU after the last layer", "the ReLU after the last layer: on or off")

/* Of the running estimates; no option of its own: the preset decides. */
#define SETTINGS_MOMENTUM(X) X(momentum, REAL, net.momentum, ANY, "momentum", 0, "M", PRESET, 0, 1, NULL, NULL, NULL)

#define SETTINGS_CHECKPOINT(X)                                                                                 \
    X(checkpoint_every, INT, checkpoint_every, ANY, "checkpoint-every", 0, "N", VALUE(100), 1, 10000000, NULL, \
      "save the state every N epochs", NULL)

/* ---- orders ---- */

/* Those that train_config itself holds; the others are in its nn_config. */
#define SETTINGS_TRAINER(X) \
    SETTINGS_ADAM(X)        \
    SETTINGS_STEP(X) SETTINGS_LENGTH(X) SETTINGS_EVALUATION(X) SETTINGS_MEASURES(X) SETTINGS_CHECKPOINT(X)

/* Options of `train`, before --init and --out. */
#define SETTINGS_OPTIONS(X)                                                                                        \
    SETTINGS_NETWORK(X)                                                                                            \
    SETTINGS_WIDTH(X)                                                                                              \
    SETTINGS_GROUP_NORM(X)                                                                                         \
    SETTINGS_DROPOUT(X)                                                                                            \
    SETTINGS_ADAM(X)                                                                                               \
    SETTINGS_LENGTH(X)                                                                                             \
    SETTINGS_EVALUATION(X)                                                                                         \
    SETTINGS_MEASURES(X)                                                                                           \
    SETTINGS_MEMORY(X)                                                                                             \
    SETTINGS_PRESET(X) SETTINGS_GCNII(X) SETTINGS_SKIP(X) SETTINGS_ORDER(X) SETTINGS_DROP_EDGE(X) SETTINGS_STEP(X) \
        SETTINGS_MODULES(X)

/* Recipe keys, and options of `sweep`, that hold for every run. The id of a run covers the first ones always, and later
 * ones where they are not the default: a new key does not change the ids of earlier journals. */
#define SETTINGS_RECIPE_FIRST(X) \
    SETTINGS_LENGTH(X)           \
    SETTINGS_WIDTH(X) SETTINGS_DROPOUT(X) SETTINGS_ADAM(X) SETTINGS_GCNII(X) SETTINGS_SKIP(X) SETTINGS_PRESET(X)
#define SETTINGS_RECIPE_LATER(X) SETTINGS_STEP(X) SETTINGS_MEMORY(X) SETTINGS_METRICS(X) SETTINGS_MODULES(X)
#define SETTINGS_RECIPE(X) SETTINGS_RECIPE_FIRST(X) SETTINGS_RECIPE_LATER(X)

/* Columns of the journal, up to lambda and after lambda_from. */
#define SETTINGS_COLUMNS(X) SETTINGS_LENGTH(X) SETTINGS_WIDTH(X) SETTINGS_GROUP_NORM(X)
#define SETTINGS_COLUMNS_AFTER_LAMBDA(X)                                                             \
    SETTINGS_DROPOUT(X)                                                                              \
    SETTINGS_ADAM(X)                                                                                 \
    SETTINGS_GCNII(X)                                                                                \
    SETTINGS_SKIP(X) SETTINGS_DROP_EDGE(X) SETTINGS_STEP(X) SETTINGS_MODULES(X) SETTINGS_MOMENTUM(X) \
        SETTINGS_PRESET(X)

/* What a checkpoint contains about its network. */
#define SETTINGS_MODEL(X) \
    SETTINGS_NETWORK(X) SETTINGS_WIDTH(X) SETTINGS_GROUP_NORM(X) SETTINGS_GCNII(X) SETTINGS_SKIP(X) SETTINGS_MODULES(X)

#define SETTINGS_ALL(X) SETTINGS_OPTIONS(X) SETTINGS_MOMENTUM(X) SETTINGS_CHECKPOINT(X)

/* ---- columns ---- */

#define SETTING_TYPE_INT int64_t
#define SETTING_TYPE_REAL double
#define SETTING_TYPE_CHOICE int
#define SETTING_TYPE_COUNTED int64_t

/* The word of a CHOICE, from the table that owns it. */
#define SETTING_WORD_model nn_conv_name
#define SETTING_WORD_norm nn_norm_name
#define SETTING_WORD_preset train_preset_name
#define SETTING_WORD_skip nn_skip_name
#define SETTING_WORD_order data_order_name
#define SETTING_WORD_lr_schedule train_schedule_name
#define SETTING_WORD_bias nn_switch_name
#define SETTING_WORD_last_norm nn_switch_name
#define SETTING_WORD_last_act nn_switch_name
/* The words of a COUNTED. */
#define SETTING_WORDS_recompute NN_RECOMPUTE_CHOICES
#define SETTING_WORDS_metrics METRICS_ROWS_CHOICES

/* Does this nn_config have the owner of a setting? */
#define SETTING_USED_ANY(net) true
#define SETTING_USED_GROUP_NORM(net) ((net)->norm == NN_GROUP)
#define SETTING_USED_GCNII(net) ((net)->model == NN_GCNII)
#define SETTING_USED_GAT(net) ((net)->model == NN_GAT)
#define SETTING_USED_BIAS(net) nn_takes_bias((net)->model)
#define SETTING_USED_NORM(net) ((net)->norm != NN_NONE)
#define SETTING_USED_ACT(net) nn_has_act((net)->model)
#define SETTING_USED_SKIP(net) nn_takes_skip((net)->model)
#define SETTING_USED_SKIP_WEIGHT(net) (nn_takes_skip((net)->model) && (net)->skip != NN_SKIP_NONE)

/* The default: as the user would type it (or NULL), and as a value. */
#define SETTING_TEXT_VALUE(number) #number
#define SETTING_TEXT_NAMED(word, enumerator) #word
#define SETTING_TEXT_PRESET NULL
#define SETTING_INT_VALUE(number) number
#define SETTING_INT_PRESET 0
#define SETTING_REAL_VALUE(number) number
#define SETTING_REAL_PRESET NAN
#define SETTING_CHOICE_NAMED(word, enumerator) enumerator
#define SETTING_COUNTED_NAMED(word, enumerator) enumerator

#endif
