/* cmd_train.c - `fathom train`: trains one network and tells what came of it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/resume.h"
#include "cli/training.h"

static const struct opt_row rows[] = {
    DATA_ROW(struct train_options, data),
    DATA_CHOICE_ROWS(struct train_options, choice),
    OPT_CHOICE(struct train_options, model, "model", 'm', "gcn|gat|sgc|gcnii", "gcn", "the convolution"),
    OPT_CHOICE(struct train_options, norm, "norm", 0, "none|batch|pair|group", "group", "the normalisation"),
    OPT_INT(struct train_options, layers, "layers", 'k', "K", "15", 1, NN_LAYERS_MAX, "depth"),
    OPT_INT(struct train_options, hidden, "hidden", 0, "D", "16", 1, NN_HIDDEN_MAX, "width of the layers between"),
    OPT_INT(struct train_options, groups, "groups", 0, "G", NULL, 1, NN_GROUPS_MAX,
            "groups of the group norm (default: the preset's)"),
    OPT_REAL(struct train_options, lambda, "lambda", 0, "X", NULL, -1e3, 1e3, "auto",
             "weight of the group norm; auto: chosen on the validation set (default: the preset's)"),
    OPT_REAL(struct train_options, dropout, "dropout", 0, "P", "0.6", 0, 0.999, NULL, "dropout rate"),
    OPT_REAL(struct train_options, lr, "lr", 0, "X", NULL, 1e-12, 1e3, NULL, "learning rate (default: the preset's)"),
    OPT_REAL(struct train_options, weight_decay, "weight-decay", 0, "X", NULL, 0, 1e3, NULL,
             "L2 added to the gradients (default: the preset's)"),
    OPT_INT(struct train_options, epochs, "epochs", 'e', "N", NULL, 1, 10000000, "how many (default: 1000)"),
    OPT_INT(struct train_options, patience, "patience", 0, "N", "0", 0, 10000000,
            "stop after N epochs without a better validation accuracy; 0: never"),
    OPT_INT(struct train_options, eval_every, "eval-every", 0, "N", "1", 1, 10000000, "evaluate every N epochs"),
    OPT_CHOICE(struct train_options, preset, "preset", 0, "authors|paper|pyg", "authors", "the defaults: see above"),
    OPT_REAL(struct train_options, alpha, "alpha", 0, "A", "0.1", 0, 1, NULL, "GCNII: share of the first layer"),
    OPT_REAL(struct train_options, theta, "theta", 0, "T", "0.5", 0, 1e3, NULL, "GCNII: strength of the weights"),
    OPT_PATH(struct train_options, init, "init", 0, "FILE", NULL, "start from the weights of a .safetensors file"),
    OPT_PATH(struct train_options, out, "out", 'o', "DIR", NULL, "folder for the run's record, model and state"),
    OPT_INT(struct train_options, checkpoint_every, "checkpoint-every", 0, "N", "100", 1, 10000000,
            "save the state every N epochs"),
    OPT_CHOICE(struct train_options, fallback, "fallback", 0, "cpu|none", NULL,
               "when an OpenCL device is lost in mid-run (default: cpu with --device auto, else none)"),
    OPT_FLAG(struct train_options, resume, "resume", 0, "go on with the run in --out, to the same bits"),
    OPT_FLAG(struct train_options, dry_run, "dry-run", 0, "show settings and memory, and train nothing"),
};

static train_config config_of(const struct train_options *o) {
    train_config c = train_unset();
    c.net.model = (nn_conv_kind)o->model;
    c.net.norm = (nn_norm_kind)o->norm;
    c.net.layers = o->layers;
    c.net.hidden = o->hidden;
    c.net.groups = o->groups; /* 0: not given */
    c.net.dropout = o->dropout;
    c.net.alpha = o->alpha;
    c.net.theta = o->theta;
    c.preset = (train_preset)o->preset;
    if (option_set(o, &o->lambda)) {
        c.lambda = isnan(o->lambda) ? TRAIN_LAMBDA_AUTO : TRAIN_LAMBDA_GIVEN;
        c.net.lambda = o->lambda;
    }
    if (option_set(o, &o->lr))
        c.lr = o->lr;
    if (option_set(o, &o->weight_decay))
        c.weight_decay = o->weight_decay;
    c.epochs = o->epochs;
    c.patience = o->patience;
    c.eval_every = o->eval_every;
    c.seed = (uint64_t)o->choice.seed;
    c.init = o->init;
    c.out = o->out;
    c.checkpoint_every = o->checkpoint_every;
    c.resume = o->resume;
    c.data = o->data;
    c.features = o->choice.features;
    c.labels = o->choice.labels;
    c.missing_rate = o->choice.missing_rate;
    c.feature_norm = (data_norm)o->choice.feature_norm;
    c.threads = o->common.threads;
    c.fallback = o->fallback >= 0 ? o->fallback == 0 : strcmp(o->common.device, "auto") == 0;
    return c;
}

/* ---- what is printed ---- */

static fathom_status print_json_result(const train_config *c, const data_set *set, const be_info *info,
                                       const train_result *result, fathom_status status) {
    struct json *doc = NULL;
    TRY(json_new(&doc));
    train_json(doc, c, set, info, result);
    if (status != FATHOM_OK)
        add_json_error(doc, status);
    fathom_status printed = print_json(doc);
    json_free(doc);
    return printed;
}

static void print_result(const train_result *r, const data_set *set) {
    printf("%s%-26s %10s%s   validation %s, training %s, after epoch %" PRId64 " of %" PRId64 "%s\n",
           style(stdout, STYLE_BOLD), "test accuracy", percent_text(r->accuracy[NN_TEST]), style(stdout, STYLE_PLAIN),
           percent_text(r->accuracy[NN_VAL]), percent_text(r->accuracy[NN_TRAIN]), r->best_epoch, r->epochs,
           r->stopped_early ? ", stopped early" : "");
    print_metrics(&r->metrics);
    if (r->candidates > 0)
        printf("%-26s %10g   of %d candidates, on %d validation nodes\n", "lambda", r->config.net.lambda, r->candidates,
               set->split.val_count);
    say("%.1f s, %.2f ms an epoch", r->total_s, r->median_epoch_ms);
    if (r->config.out)
        say("the run is in %s: model.safetensors, epochs.jsonl, run.json", r->config.out);
}

static fathom_status dry_run(const train_config *c, const data_set *set, const be_info *info, bool json) {
    nn_shape shape = nn_shape_of(set);
    nn_bytes bytes;
    TRY(nn_plan_bytes(&bytes, &c->net, &shape));
    fathom_status status = nn_plan_check(&bytes, &c->net, &shape, info);
    if (json) {
        struct json *doc = NULL;
        TRY(json_new(&doc));
        train_json_data(doc, set);
        train_json_config(doc, c, set);
        train_json_device(doc, info);
        json_open(doc, "memory");
        json_int(doc, "planned_bytes", bytes.total);
        for (int i = 0; i < NN_MEM_COUNT; i++)
            json_int(doc, nn_memory_name((nn_memory)i), bytes.part[i]);
        json_int(doc, "device_bytes", info->memory_bytes);
        json_close(doc);
        json_int(doc, "parameters", bytes.parameters);
        json_text(doc, "status", "dry_run");
        if (status != FATHOM_OK)
            add_json_error(doc, status);
        fathom_status printed = print_json(doc);
        json_free(doc);
        return status == FATHOM_OK ? printed : status;
    }
    say_set(set);
    say_network(c, info);
    printf("preset %s: assignment %s bias, momentum %g\n", train_preset_name(c->preset),
           c->net.assign_bias ? "with" : "without", c->net.momentum);
    printf("%-26s %10s\n", "trained numbers", count_text(bytes.parameters));
    for (int i = 0; i < NN_MEM_COUNT; i++)
        printf("%-26s %10s\n", nn_memory_name((nn_memory)i), bytes_text((uint64_t)bytes.part[i]));
    printf("%-26s %10s of %s on %s\n", "memory in all", bytes_text((uint64_t)bytes.total),
           bytes_text((uint64_t)info->memory_bytes), info->word);
    return status;
}

static fathom_status train_on(train_config *c, const data_set *set, be_device *dev, const struct train_options *o) {
    const be_info *info = be_device_info(dev);
    train_hooks hooks = training_hooks();
    train_result *result = NULL;
    if (o->dry_run)
        return dry_run(c, set, info, o->common.json);
    say_set(set);
    say_network(c, info);
    fathom_status status = train_run(&result, c, set, dev, &hooks);
    progress_end();
    if (result && o->common.json) {
        fathom_status printed = print_json_result(c, set, info, result, status);
        status = status == FATHOM_OK ? printed : status;
    } else if (result) {
        print_result(result, set);
    }
    train_result_free(result);
    return status;
}

static fathom_status run(const void *given) {
    struct train_options options = *(const struct train_options *)given;
    struct resumed resumed = {0};
    data_set *set = NULL;
    be_device *dev = NULL;
    fathom_status status;
    if (options.resume)
        TRY_OUT(resume_options(&options, &resumed, rows, sizeof rows / sizeof *rows));
    train_config config = config_of(&options);
    TRY_OUT(load_set(&set, &config.load_s, options.data, &options.choice));
    TRY_OUT(train_fill(&config, set));
    double start = now_seconds();
    TRY_OUT(open_device(&dev, &options.common));
    config.open_s = now_seconds() - start;
    TRY_OUT(train_on(&config, set, dev, &options));
out:
    be_close(dev);
    data_free(set);
    resume_free(&resumed);
    return status;
}

const struct verb verb_train = {
    "train",
    "train a network, and measure how over-smoothed it is",
    "Without options: the embedded graph, a GCN of 15 layers with group norm.\n"
    "Ctrl-C once finishes the epoch and saves; twice stops at once.\n"
    "\n"
    "Presets (each sets what is not given):\n"
    "  authors  momentum 0.3, a bias in the assignment to groups, 10 groups,\n"
    "           lr 5e-3 (Pubmed 1e-2), L2 5e-4 (Citeseer and CoauthorCS 5e-5,\n"
    "           Pubmed 1e-3), lambda by data set, model and depth\n"
    "  paper    momentum 0.3, no bias, 10 groups (Pubmed 5), lr 5e-3 (Pubmed 1e-2),\n"
    "           L2 5e-4 (Pubmed 1e-3), lambda auto\n"
    "  pyg      momentum 0.1, no bias, 10 groups, lr 5e-3, L2 5e-4, lambda 0.01:\n"
    "           loads strictly into the modules of PyTorch Geometric\n"
    "\n"
    "lambda auto trains 100 epochs with each of nine values from 5e-4 to 5e-2 and\n"
    "keeps the one with the best validation accuracy.\n"
    "\n"
    "--out DIR holds run.json (settings and result), epochs.jsonl (a line an epoch),\n"
    "model.safetensors (the best validation epoch) and state.safetensors (to resume).\n"
    "--resume takes every option that is not given from the run in --out.\n",
    "fathom train\n"
    "fathom train --data cora --model gat --layers 15 --out runs/gat15\n"
    "fathom train --out runs/gat15 --resume --epochs 2000\n",
    OPT_ROWS(rows),
    sizeof(struct train_options),
    run,
};
